"""Small neural nets on raw tables."""
