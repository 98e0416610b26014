"""The committee in one line: from a raw table to the best committee that a budget allows."""
