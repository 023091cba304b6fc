"""Define the CDK app: one stage for each cluster file."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from aws_cdk import Annotations, App, Environment, Validations

from config.errors import ConfigError, placed
from constructs.hyperpod.cdk_internals import CdkInternalsError
from stacks.cluster_stage import ClusterStage
from validation.checked_file import with_charts
from validation.load import check_clusters, usable

PROJECT = Path(__file__).resolve().parent.parent
FEATURE_FLAGS = Path(__file__).with_name("feature_flags.json")

# Set here what the `cdk` command line would set, so that `python app.py` gives the same templates. `cdk diff` needs the paths.
TEMPLATES = {
    "aws:cdk:enable-path-metadata": True,
    "aws:cdk:enable-asset-metadata": False,
    "aws:cdk:version-reporting": False,
    # Collects construct properties for version reporting.
    "@aws-cdk/core:enableAdditionalMetadataCollection": False,
}


class ClustersApp(App):
    """Define a stage for each cluster file in a folder, checked by cdk-nag.

    Context: ``cluster`` selects one file, ``clusters`` another folder, relative to the working directory; ``nag=false`` skips
    cdk-nag. Feature flags are set here because only the `cdk` command line reads those in cdk.json.
    """

    def __init__(self, *, context: Mapping[str, object] | None = None, outdir: str | None = None) -> None:
        super().__init__(
            context={**json.loads(FEATURE_FLAGS.read_text()), **(context or {})},
            post_cli_context=TEMPLATES,
            analytics_reporting=False,
            # In a Python app, traces contain only jsii frames. The tree serves construct browsers.
            stack_traces=False,
            tree_metadata=False,
            outdir=outdir,
        )
        given = self.node.try_get_context("clusters")
        folder = Path(str(given)).absolute() if given else PROJECT / "clusters"
        files = with_charts(check_clusters(folder, self.node.try_get_context("cluster")))
        for config, file in zip(usable(files), files, strict=True):
            # Without account and region in the file, templates are environment-agnostic, whatever credentials are set.
            stage = ClusterStage(self, config=config, environment=Environment(account=config.account, region=config.region))
            for warning in file.warnings:
                # The `cdk` command line prints annotations of stacks; with --strict, warnings are errors.
                Annotations.of(stage.cluster).add_warning_v2(warning.rule, f"{placed(file.name, warning)}: {warning}")
        if str(self.node.try_get_context("nag")).lower() != "false":
            from cdk_nag import AwsSolutionsChecks  # noqa: PLC0415  slow to load

            Validations.of(self).add_plugins(AwsSolutionsChecks(self))


def main() -> None:
    """Synthesize the app; print errors to stderr and exit with status 1 if it cannot be synthesized."""
    try:
        ClustersApp().synth()
    except (ConfigError, CdkInternalsError) as error:
        sys.exit(str(error))
