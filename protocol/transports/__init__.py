"""Transports for lines; each carries bytes, whatever they contain."""
