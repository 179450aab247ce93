"""Pure functions that strategies share."""
