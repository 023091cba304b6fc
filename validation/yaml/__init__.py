"""Read YAML with positions and explain syntax errors."""
