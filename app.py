"""Synthesizes every cluster file in clusters/; `-c cluster=NAME` takes one."""

import gc
import sys

# aws_cdk makes half a million objects while it is imported and none of them is garbage: looking for it takes a twentieth of
# the time.
gc.disable()

from config.errors import ConfigError  # noqa: E402  it must not be looked for while these are imported
from stacks.clusters_app import ClustersApp  # noqa: E402  the same

try:
    ClustersApp().synth()
except ConfigError as error:
    sys.exit(str(error))
