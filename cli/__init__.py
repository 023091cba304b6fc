"""The operator's command line: `./hpod COMMAND CLUSTER`."""

__version__ = "0.1.0"
