"""`./hpod cost`: quantities per month, and their prices."""
