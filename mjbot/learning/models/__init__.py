"""What plays of what was learned (hand, fold, danger, tenpai, placement), and the weights."""
