"""Voting: members combined by a fixed rule or by weights."""
