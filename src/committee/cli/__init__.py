"""The `committee` command."""
