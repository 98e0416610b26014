"""Stacking: a meta-learner fitted to the predictions of members."""
