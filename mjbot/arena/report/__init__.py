"""What a run's outcome looks like: text, JSON lines and one HTML page."""
