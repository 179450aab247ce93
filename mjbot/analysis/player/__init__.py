"""One player over many games: what choices cost by class, situations, luck, and a quiz."""
