"""`./hpod cost`: what a cluster uses per month, and what that costs."""
