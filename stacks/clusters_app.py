"""The app: every cluster file a stage."""

import json
from collections.abc import Mapping
from pathlib import Path

from aws_cdk import Annotations, App, Environment, Validations

from config.errors import placed
from stacks.cluster_stage import ClusterStage
from validation.load import check_clusters, usable

PROJECT = Path(__file__).resolve().parent.parent
FEATURE_FLAGS = Path(__file__).with_name("feature_flags.json")

# What the `cdk` command line would set for a template otherwise, so that it makes no difference who runs the app. Paths stay:
# `cdk diff` names resources by them.
TEMPLATES = {
    "aws:cdk:enable-path-metadata": True,
    "aws:cdk:enable-asset-metadata": False,
    "aws:cdk:version-reporting": False,
    # Gathers each construct's properties for that reporting.
    "@aws-cdk/core:enableAdditionalMetadataCollection": False,
}


class ClustersApp(App):
    """Every cluster file of a folder, a stage each, checked by cdk-nag.

    Context: ``cluster`` takes one file, ``clusters`` names another folder, ``nag`` set to ``false`` leaves cdk-nag out. The
    feature flags are handed over here: cdk.json's would reach the app through the `cdk` command line alone.
    """

    def __init__(self, *, context: Mapping[str, object] | None = None, outdir: str | None = None) -> None:
        super().__init__(
            context={**json.loads(FEATURE_FLAGS.read_text()), **(context or {})},
            post_cli_context=TEMPLATES,
            analytics_reporting=False,
            # Of an app in Python, traces show jsii's frames alone; the tree is for a browser of constructs.
            stack_traces=False,
            tree_metadata=False,
            outdir=outdir,
        )
        folder = PROJECT / str(self.node.try_get_context("clusters") or "clusters")
        files = check_clusters(folder, self.node.try_get_context("cluster"))
        for config, file in zip(usable(files), files, strict=True):
            # What the file leaves open stays open in the templates, too: credentials at hand do not change what is synthesized.
            stage = ClusterStage(self, config=config, environment=Environment(account=config.account, region=config.region))
            for warning in file.warnings:
                # The command line shows what is annotated on stacks; with --strict, it makes errors of warnings.
                Annotations.of(stage.cluster).add_warning_v2(warning.rule, f"{placed(file.name, warning)}: {warning}")
        if str(self.node.try_get_context("nag")).lower() != "false":
            from cdk_nag import AwsSolutionsChecks  # noqa: PLC0415  a tenth of a synthesis goes into loading it

            Validations.of(self).add_plugins(AwsSolutionsChecks(self))
