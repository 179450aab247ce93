"""Statistics of players over records of any kind: by period, opponent, seat and length of game."""
