"""`./hpod preflight CLUSTER`: checks of the account before a deployment."""
