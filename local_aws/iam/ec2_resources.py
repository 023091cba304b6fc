"""The authorization of EC2 requests that name a network interface, an endpoint or a security group: its subnet, VPC and tags."""

from typing import Any

from local_aws.iam.requests import Parameters, Permissions, Place

_DELETED = {
    "ec2:DeleteSecurityGroup": ("GroupId", "security-group"),
    "ec2:DeleteVpcEndpoints": ("VpcEndpointIds", "vpc-endpoint"),
}


def on_resource(place: Place, required: Permissions, parameters: Parameters) -> Permissions:
    """Return ``required`` with what the request names as the resource; unchanged if it names nothing that exists."""
    if required.action in _DELETED:
        return _on_deleted(place, required, parameters)
    interface = _named(place, parameters)
    if place.service != "ec2" or interface is None:
        return required
    keys: dict[str, str | list[str]] = {
        "ec2:Subnet": place.arn(f"subnet/{interface.subnet.id}"),
        "ec2:Vpc": place.arn(f"vpc/{interface.subnet.vpc_id}"),
        **{f"aws:ResourceTag/{tag['key']}": tag["value"] for tag in interface.get_tags()},
    }
    # Detaching also requires permission on the instance.
    instances = [place.arn(f"instance/{interface.instance.id}")] if "AttachmentId" in parameters else []
    return Permissions(
        required.action, (place.arn(f"network-interface/{interface.id}"), *instances), {**required.context, **keys}
    )


def _on_deleted(place: Place, required: Permissions, parameters: Parameters) -> Permissions:
    """Return ``required`` on each resource, with the tags that all of them have."""
    name, kind = _DELETED[required.action]
    given = parameters.get(name) or []
    ids, ec2 = given if isinstance(given, list) else [given], _ec2(place)
    found = list(filter(None, (ec2.vpc_end_points.get(each) or ec2.get_security_group_from_id(each) for each in ids)))
    tags = [{(f"aws:ResourceTag/{tag['key']}", tag["value"]) for tag in each.get_tags()} for each in found]
    context: dict[str, str | list[str]] = dict(set.intersection(*tags)) if tags else {}
    if found and kind == "security-group":
        context["ec2:Vpc"] = place.arn(f"vpc/{found[0].vpc_id}")
    elif found:
        context["ec2:VpceServiceName"] = found[0].service_name
    return Permissions(required.action, tuple(place.arn(f"{kind}/{each}") for each in ids), {**required.context, **context})


def _named(place: Place, parameters: Parameters) -> Any | None:
    [tagged, *_] = parameters.get("Resources") or [None]
    names = {"id": parameters.get("NetworkInterfaceId") or tagged, "attachment_id": parameters.get("AttachmentId")}
    interfaces = list(_ec2(place).enis.values())
    return next((each for each in interfaces for key, value in names.items() if value and getattr(each, key) == value), None)


def _ec2(place: Place) -> Any:
    from moto.ec2.models import ec2_backends  # noqa: PLC0415  moto is loaded once the environment is set

    return ec2_backends[place.account][place.region]
