"""What plays of what was learned: hand, fold, danger, tenpai and placement models, and their weights."""
