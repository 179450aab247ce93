"""Recorded games: mjai lines, mjlog and tenhou.net/6, read one game at a time, and written."""
