"""`./hpod cost`: what a cluster costs, by prices that each have a source."""
