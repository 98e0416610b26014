"""Combining different estimators by predictions on rows that they were not fitted to."""
