"""What a committee remembers of its fit for reports: numbers about many rows, never one row."""
