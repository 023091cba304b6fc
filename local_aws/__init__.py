"""An AWS account on one machine: what the tests and the demo deploy to. The product never imports it."""
