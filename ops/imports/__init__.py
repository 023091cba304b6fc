"""`python -m ops import`: cluster files of clusters that were described elsewhere."""
