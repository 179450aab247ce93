"""How strong every strategy is, what its decisions cost, and how it plays compared with people."""
