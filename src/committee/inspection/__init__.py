"""The members of a fitted ensemble compared: diversity and pruning."""
