"""Programs of others, each with its own rules and wire forms, beside ours on loopback."""
