"""Positions played on: hidden hands sampled, worlds dealt, plans compared in them."""
