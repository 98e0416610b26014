"""The members of a fitted ensemble under the microscope: diversity and pruning."""
