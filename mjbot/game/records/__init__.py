"""Recorded games: mjai lines, mjlog, tenhou.net/6, read and written; Mahjong Soul's, read."""
