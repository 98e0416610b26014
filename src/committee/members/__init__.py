"""Estimators as members of an ensemble: fitting them on rows and reading their predictions."""
