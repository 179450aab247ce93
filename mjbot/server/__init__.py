"""The table server: who is told what, who owes what, and the doors through which players come."""
