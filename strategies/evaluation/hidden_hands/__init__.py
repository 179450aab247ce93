"""Hands that a seat cannot see: sampled, and what they would cost."""
