"""Commands that turn recorded games into something else: other lines, a page, a picture."""
