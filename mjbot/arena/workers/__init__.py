"""Playing a run's games: worker processes, deadlines, replaced decisions."""
