"""Ways for lines to travel; each carries bytes and knows nothing of what they say."""
