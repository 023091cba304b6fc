"""Access to nodes through Session Manager."""
