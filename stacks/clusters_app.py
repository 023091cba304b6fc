"""The app: every cluster file a stage."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aws_cdk import App, Environment, Validations
from cdk_nag import AwsSolutionsChecks

from config.load import load_clusters
from config.model import ClusterConfig
from stacks.cluster_stage import ClusterStage

PROJECT = Path(__file__).resolve().parent.parent
FEATURE_FLAGS = Path(__file__).with_name("feature_flags.json")


class ClustersApp(App):
    """Every cluster file of a folder, a stage each, checked by cdk-nag.

    Context: ``cluster`` takes one file, ``clusters`` names another folder, ``nag`` set to ``false`` leaves cdk-nag out. The
    feature flags are handed over here: cdk.json's would reach the app through the `cdk` command line alone.
    """

    def __init__(self, *, context: Mapping[str, Any] | None = None, outdir: str | None = None) -> None:
        super().__init__(context={**json.loads(FEATURE_FLAGS.read_text()), **(context or {})}, outdir=outdir)
        folder = PROJECT / str(self.node.try_get_context("clusters") or "clusters")
        for config in load_clusters(folder, self.node.try_get_context("cluster")):
            ClusterStage(self, config=config, environment=_environment(config))
        if str(self.node.try_get_context("nag")).lower() != "false":
            Validations.of(self).add_plugins(AwsSolutionsChecks(self))


def _environment(config: ClusterConfig) -> Environment:
    """The file's account and region, or else those that the CDK finds."""
    return Environment(
        account=config.account or os.environ.get("CDK_DEFAULT_ACCOUNT"),
        region=config.region or os.environ.get("CDK_DEFAULT_REGION"),
    )
