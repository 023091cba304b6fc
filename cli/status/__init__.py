"""`./hpod status`: one report on everything that a cluster file describes."""
