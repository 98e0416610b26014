"""Ensemble selection: a few members of a library, chosen greedily."""
