"""Two bots that play as a pair, each in a process of its own: seated, watched, counted."""
