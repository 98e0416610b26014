"""Dynamic selection: weights of members that depend on the row."""
