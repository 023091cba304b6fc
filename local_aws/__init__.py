"""An AWS account on one machine, for tests and the demo. The product never imports it."""
