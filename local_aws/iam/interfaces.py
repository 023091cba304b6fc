"""The authorization of EC2 requests that name a network interface: the interface, in its subnet and VPC."""

from typing import Any

from local_aws.iam.requests import Parameters, Permissions, Place


def on_interface(place: Place, required: Permissions, parameters: Parameters) -> Permissions:
    """Return ``required`` with the interface as the resource; unchanged if the request names no existing interface."""
    interface = _named(place, parameters)
    if place.service != "ec2" or interface is None:
        return required
    keys: dict[str, str | list[str]] = {
        "ec2:Subnet": place.arn(f"subnet/{interface.subnet.id}"),
        "ec2:Vpc": place.arn(f"vpc/{interface.subnet.vpc_id}"),
    }
    # Detaching also requires permission on the instance.
    instances = [place.arn(f"instance/{interface.instance.id}")] if "AttachmentId" in parameters else []
    return Permissions(
        required.action, (place.arn(f"network-interface/{interface.id}"), *instances), {**required.context, **keys}
    )


def _named(place: Place, parameters: Parameters) -> Any | None:
    from moto.ec2.models import ec2_backends  # noqa: PLC0415  moto is loaded once the environment is set

    interface_id, attachment_id = parameters.get("NetworkInterfaceId"), parameters.get("AttachmentId")
    interfaces = ec2_backends[place.account][place.region].enis.values()
    return next(
        (each for each in list(interfaces) if each.id == interface_id or (attachment_id and each.attachment_id == attachment_id)),
        None,
    )
