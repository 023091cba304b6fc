"""Synthesizes every cluster file in clusters/; `-c cluster=NAME` takes one."""

import sys

from config.errors import ConfigError
from stacks.clusters_app import ClustersApp

try:
    ClustersApp().synth()
except ConfigError as error:
    sys.exit(str(error))
