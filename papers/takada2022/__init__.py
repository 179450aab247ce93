"""Takada and Sato 2022: playouts that count on the others' help."""
