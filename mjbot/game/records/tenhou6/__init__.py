"""Games as tenhou.net/6 writes them: one JSON object a game, one list of columns a hand."""
