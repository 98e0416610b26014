"""Model files: how fitted models are written to and read from disk."""
