"""What fold-recognition and fold-recognition-plus weigh: winning, danger, placement."""
