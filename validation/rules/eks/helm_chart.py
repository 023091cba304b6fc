"""Check the Helm chart of HyperPod's dependencies: its folder, and the objects that it renders."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from cluster_request.helm_chart.chart import Json, Rendered, hook_of, name_of, random_objects, rendered
from cluster_request.helm_chart.program import HelmError
from cluster_request.kubernetes_objects.builders import NAMESPACE
from cluster_request.kubernetes_objects.dependencies import MAX_EVENT, event_size, object_properties, objects_of
from cluster_request.kubernetes_objects.health_agent import ACCOUNTS
from config.errors import Level, Path, Problem
from config.model import ClusterConfig, eks_of
from config.zones import region_of_zone
from validation.rules.registry import chart_rule, eks_rule

FOLDER: Path = ("eks", "helm_chart", "folder")
VALUES: Path = ("eks", "helm_chart", "values")
AGENT = "hyperpod-health-monitoring-agent"
ECR_IMAGE = re.compile(r"(?P<account>[0-9]{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?/(?P<name>[^:@]+)")
MOST_NAMES = 3


def _folder(config: ClusterConfig) -> str:
    chart = eks_of(config).helm_chart
    return chart.folder.name if chart else ""


def _chart(config: ClusterConfig) -> Rendered:
    return rendered(eks_of(config)) or Rendered((), ())


def _region(config: ClusterConfig) -> str:
    return config.region or str(region_of_zone(config.network.availability_zone_id))


def _objects(config: ClusterConfig) -> list[Json]:
    return objects_of(config, region=_region(config))


def _names(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


@eks_rule("helm-chart-folder", "eks.helm_chart")
def helm_chart_folder(config: ClusterConfig) -> Iterator[Problem]:
    """`eks.helm_chart.folder` must contain a Chart.yaml.

    Helm renders no other folder.
    """
    chart = eks_of(config).helm_chart
    if chart and not (chart.folder / "Chart.yaml").is_file():
        yield Problem(FOLDER, chart.folder.name, "has no Chart.yaml", "use the folder of the chart, e.g. HyperPodHelmChart")


@chart_rule("helm-chart-rendering")
def helm_chart_rendering(config: ClusterConfig) -> Iterator[Problem]:
    """The chart must render with the `helm` on your PATH, without network access.

    The template contains the objects, so that `cdk diff` shows them and the deployment downloads nothing.
    """
    try:
        rendered(eks_of(config))
    except HelmError as error:
        yield Problem(FOLDER, _folder(config), error.message, error.fix)


@chart_rule("helm-chart-objects")
def helm_chart_objects(config: ClusterConfig) -> Iterator[Problem]:
    """The chart must render HyperPod's namespace, and each object once and with a name; the teams' objects are not its own.

    Objects are updated and deleted by their names, and HyperPod cannot create a cluster without its namespace.
    """
    chart = _chart(config)
    if not any(item["kind"] == "Namespace" and item["metadata"].get("name") == NAMESPACE for item in chart.objects):
        fix = "use HyperPodHelmChart of sagemaker-hyperpod-cli, with deep-health-check"
        yield Problem(FOLDER, _folder(config), f"renders no namespace {NAMESPACE}", fix)
    for item in chart.objects:
        if not isinstance(item["metadata"].get("name"), str):
            yield Problem(FOLDER, _folder(config), f"{name_of(item)} has no fixed name", "set metadata.name in the chart")
    counted = Counter((item["apiVersion"].rpartition("/")[0], name_of(item)) for item in _objects(config))
    for name in sorted(name for (_, name), count in counted.items() if count > 1):
        message = f"{name} is rendered twice, or belongs to a team"
        yield Problem(FOLDER, _folder(config), message, "disable it in `eks.helm_chart.values`")


@chart_rule("helm-chart-size")
def helm_chart_size(config: ClusterConfig) -> Iterator[Problem]:
    """The rendered objects must fit into an event of CloudFormation.

    An update sends the objects of the last deployment too. Large objects are compressed.
    """
    size = event_size(object_properties(_objects(config)))
    if size > MAX_EVENT:
        message = f"the objects have {size} bytes in an update, at most {MAX_EVENT} fit"
        yield Problem(FOLDER, _folder(config), message, "disable parts in `eks.helm_chart.values`")


@chart_rule("helm-chart-hooks", Level.WARNING)
def helm_chart_hooks(config: ClusterConfig) -> Iterator[Problem]:
    """The chart should have no hooks (`helm.sh/hook`); they are skipped.

    The deployment applies and deletes objects. Only Helm runs hooks, such as jobs before an upgrade.
    """
    hooks = [f"{name_of(item)} ({hook_of(item)})" for item in _chart(config).hooks]
    if hooks:
        message = f"hooks are skipped: {_names(hooks)}"
        yield Problem(FOLDER, _folder(config), message, "disable them in `eks.helm_chart.values`, or run them yourself")


@chart_rule("helm-chart-random-values", Level.WARNING)
def helm_chart_random_values(config: ClusterConfig) -> Iterator[Problem]:
    """The chart should render the same objects each time.

    Random passwords and certificates, or the time, change the template and the objects with each deployment.
    """
    if names := random_objects(eks_of(config)):
        message = f"each rendering changes {_names(names)}"
        yield Problem(FOLDER, _folder(config), message, "set the random values in `eks.helm_chart.values`")


@chart_rule("helm-chart-secrets", Level.WARNING)
def helm_chart_secrets(config: ClusterConfig) -> Iterator[Problem]:
    """The chart should render no secret with content.

    The template contains it as text, and every user who can read the stack can read it.
    """
    secrets = [
        item for item in _chart(config).objects if item["kind"] == "Secret" and (item.get("data") or item.get("stringData"))
    ]
    if secrets:
        message = f"the template shows {_names([name_of(item) for item in secrets])}"
        yield Problem(FOLDER, _folder(config), message, "create secrets outside the chart")


@chart_rule("helm-chart-images", Level.WARNING)
def helm_chart_images(config: ClusterConfig) -> Iterator[Problem]:
    """Images in Amazon ECR should be in the cluster's region, and the health monitoring agent's of the region's account.

    The chart uses the agent's image in us-east-1 unless a value sets the region. Without internet access, nodes cannot pull it.
    """
    region = _region(config)
    for image in sorted({image for item in _chart(config).objects for image in _images(item)}):
        if (found := ECR_IMAGE.match(image)) and (parts := _image_problem(found, region)):
            yield Problem(VALUES, image, *parts)


def _image_problem(image: re.Match[str], region: str) -> tuple[str, str] | None:
    """Return what is wrong with the image, and the fix."""
    is_agent = image["name"] == AGENT
    if image["region"] != region:
        fix = f"add `health-monitoring-agent: {{region: {region}}}`" if is_agent else "set another image or region"
        return f"is in {image['region']}, the cluster in {region}", fix
    if is_agent and image["account"] != ACCOUNTS.get(region, image["account"]):
        return f"is not of AWS's account {ACCOUNTS[region]} for {region}", "set `hmaimage` of `health-monitoring-agent`"
    return None


def _images(value: Any) -> Iterator[str]:
    """Yield the images in an object."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key == "image" and isinstance(part, str):
                yield part
            else:
                yield from _images(part)
    elif isinstance(value, list):
        for part in value:
            yield from _images(part)
