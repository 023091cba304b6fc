"""Synthesizes every cluster file in clusters/; `-c cluster=NAME` takes one."""

import gc
import sys
from importlib import import_module
from threading import Thread

# aws_cdk makes half a million objects while it is imported and none of them is garbage: looking for it takes a twentieth of
# the time.
gc.disable()
# Python waits while Node starts and loads aws-cdk-lib: time to load what reads the cluster files.
Thread(target=import_module, args=("config.load",)).start()

from config.errors import ConfigError  # noqa: E402  after the above
from stacks.clusters_app import ClustersApp  # noqa: E402  the same

try:
    ClustersApp().synth()
except ConfigError as error:
    sys.exit(str(error))
