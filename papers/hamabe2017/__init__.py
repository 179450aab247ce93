"""Hamabe 2017: a pair of allied players."""
