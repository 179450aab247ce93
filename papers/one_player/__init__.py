"""One-player mahjong: 13 tiles, 27 draws, no opponents; the score is whether the hand was won.

After Mizukami et al., "Adapting one-player mahjong players to four-player mahjong by recognizing
folding situations" (2013), section 5.1.  The game is :mod:`papers.one_player.game`;
:mod:`papers.one_player.runs` has the players by name and plays many walls.
"""
