#!/usr/bin/env python3
"""Check whether this node is ready for jobs. Runs on every node as any user; steps/precheck.py installs it."""

import sys

from hyperpod_node.precheck.command_line import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
