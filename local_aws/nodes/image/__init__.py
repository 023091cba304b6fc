"""The image from which all simulated nodes boot: its recipe, and how it is built and kept."""
