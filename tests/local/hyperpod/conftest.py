"""The accounts of the simulator's own tests, for the product's code."""

from tests.simulator.hyperpod.conftest import account, caller, site, world

__all__ = ["account", "caller", "site", "world"]
