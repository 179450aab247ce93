"""What strategies weigh, in rooms by family."""
