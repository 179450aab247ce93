"""Training of the fast policy: imitation of records, then refinement by play."""
