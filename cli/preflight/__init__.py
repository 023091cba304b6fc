"""`./hpod preflight CLUSTER`: what an account would refuse, asked before anything is deployed there."""
