"""Training: positions from records, fitting, and runs that can be resumed."""
