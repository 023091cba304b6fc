"""Define the resources of a HyperPod cluster. The folder above must never get an `__init__.py`: see docs/adr/0001."""
