"""Bots and servers that run for days: pacing, status, files, signals."""
