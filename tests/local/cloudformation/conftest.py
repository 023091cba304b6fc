"""The account of the simulator's own tests, for the product's templates."""

from tests.simulator.cloudformation.conftest import account, world

__all__ = ["account", "world"]
