"""One-player mahjong: 13 tiles, 27 draws, nobody else; what counts is whether the hand was won.

After Mizukami et al., "Adapting one-player mahjong players to four-player mahjong by recognizing
folding situations" (2013), section 5.1.  The game is :mod:`mjbot.experiments.one_player.game`, its
players are named in :mod:`mjbot.experiments.one_player.runs`, and
:mod:`mjbot.experiments.one_player.runs` plays many walls.
"""
