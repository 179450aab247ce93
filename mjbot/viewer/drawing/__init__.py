"""A table as a drawing: boards from states, our own tiles, and both as SVG.

Importing it lets notebooks display a :class:`~mjbot.game.table.view.View` as its board.
"""

from mjbot.game.table.view import View
from mjbot.viewer.drawing.picture import view_html, view_svg

__all__ = ["view_html", "view_svg"]

View.renderer = view_html
