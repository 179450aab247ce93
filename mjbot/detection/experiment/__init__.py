"""How well ``mjbot detect`` finds known pairs, how soon, and whom it accuses wrongly."""
