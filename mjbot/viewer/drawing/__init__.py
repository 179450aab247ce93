"""A table as a drawing: boards from states, our own tiles, and both as SVG.

Importing it lets notebooks display a :class:`~mjbot.table.view.View` as its board.
"""

from mjbot.drawing.picture import view_html, view_svg
from mjbot.table.view import View

__all__ = ["view_html", "view_svg"]

View.renderer = view_html
