"""What learns: positions from records, fitting, runs that can be taken up again."""
