"""Recorded games judged decision by decision: what each cost, and why."""
