"""Recorded games: Tenhou mjlog and mjai lines, plain or packed, read one game at a time."""
