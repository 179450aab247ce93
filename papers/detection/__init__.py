"""How well and how soon ``mjbot detect`` finds known pairs, and its false positives."""
