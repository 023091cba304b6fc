"""Rules for every cluster file."""
