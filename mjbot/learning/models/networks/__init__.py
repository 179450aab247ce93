"""Learned players at the table: what they are shown, and their networks without a framework."""
