"""The table: one state, one apply, legal actions, and what a seat may see."""
