"""Mizukami et al. 2013: one-player mahjong and knowing when to fold."""
