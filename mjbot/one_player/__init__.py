"""One-player mahjong: 13 tiles, 27 draws, nobody else; what counts is whether the hand was won.

After Mizukami et al., "Adapting one-player mahjong players to four-player mahjong by recognizing
folding situations" (2013), section 5.1.  The game is :mod:`mjbot.one_player.game`, its players
are named in :mod:`mjbot.one_player.names`, and :mod:`mjbot.one_player.runs` plays many walls.
"""
