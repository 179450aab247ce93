"""What is counted in games, and its statistics: estimates, tests, figures."""
