"""The game: rules, table, referee, records and the statistics of play."""
