"""The image of all simulated nodes: its recipe, its build and its cache."""
