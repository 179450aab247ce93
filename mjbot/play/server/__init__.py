"""The table server: turns, replies, and the endpoints through which players come."""
