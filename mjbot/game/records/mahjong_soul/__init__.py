"""Decoded records of Mahjong Soul: JSON of the site's own messages."""
