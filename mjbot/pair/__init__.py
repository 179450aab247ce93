"""Two bots that play as a pair: what they tell each other, and at which tables they may."""
