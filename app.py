"""Synthesizes every cluster file in clusters/; `-c cluster=NAME` takes one."""

import gc
import sys
from importlib import import_module
from threading import Thread

# Before the thread: `dataclasses` looks at `typing` without waiting until another thread has loaded all of it.
from config.errors import ConfigError

# aws_cdk makes half a million objects while it is imported and none of them is garbage: looking for it takes a twentieth of
# the time.
gc.disable()
# Python waits while Node starts and loads aws-cdk-lib: time to load what reads the cluster files.
Thread(target=import_module, args=("validation.load",)).start()

from stacks.clusters_app import ClustersApp  # noqa: E402  after the above

try:
    ClustersApp().synth()
except ConfigError as error:
    sys.exit(str(error))
