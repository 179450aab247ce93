"""What is counted in games, and what may be said of it: estimates, tests, figures."""
