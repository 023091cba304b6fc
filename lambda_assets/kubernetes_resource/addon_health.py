"""Check the health of add-ons: CloudFormation calls DEGRADED ones complete. Runs in Lambda.

https://github.com/hashicorp/terraform-provider-aws/issues/44669 saw it.
"""

from cluster_resource.event import Event, Json
from cluster_resource.fenced_step import Done
from kubernetes_resource.eks_access import EksAccess
from kubernetes_resource.errors import Kind, KubernetesError
from kubernetes_resource.objects import Target

ADDON_HEALTH = "Custom::HyperPodAddonHealth"


def check_addons(event: Event, access: EksAccess) -> Done:
    """Raise an error that names the add-ons that are not ACTIVE.

    The name in the ID follows from the add-ons: an Update to the ID that it has is a rollback's, whose failure blocks the stack.
    """
    target = Target.of(event.properties)
    if event.request_type == "Delete" or event.physical_id == target.physical_id:
        return Done("not checked")
    found = [access.addon(target.cluster, each["Name"]) for each in event.properties["Addons"]]
    if unhealthy := [_text(addon) for addon in found if addon["status"] != "ACTIVE"]:
        raise KubernetesError(Kind.DEGRADED, "Addons", "; ".join(unhealthy))
    return Done(f"{len(found)} add-ons are ACTIVE")


def _text(addon: Json) -> str:
    reasons = [f"{each['code']}: {each.get('message', '').rstrip('.')}" for each in addon.get("health", {}).get("issues", ())]
    return f"add-on {addon['addonName']} is {addon['status']}{': ' if reasons else ''}{', '.join(reasons)}"
