"""The commands that take recorded games."""
