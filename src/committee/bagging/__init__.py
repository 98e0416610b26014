"""Bagging of any estimator."""
