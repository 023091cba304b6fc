"""Users of a directory: SSSD's configuration, its check, and the first login of a user."""
