"""`./hpod snapshot`: readable templates and node files of cluster files, to review in pull requests."""
