"""Two bots that play as a pair: their messages, and where they may play."""
