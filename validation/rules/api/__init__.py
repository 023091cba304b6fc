"""Rules for the CreateCluster request, with fields and `overrides` merged."""
