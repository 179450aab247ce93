"""Proof of the rules on recorded games and known answers; needs the shared data folder."""
