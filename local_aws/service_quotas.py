"""Service Quotas on top of moto's, which only lists the defaults of VPC.

SageMaker's instance quotas are those that `/_local_aws/quotas` sets (hyperpod/quotas.py enforces them for CreateCluster), and
otherwise ROOM. For VPC, EC2, EKS and FSx it lists the defaults of a new account, which are not enforced here. Quota codes
without a source are invented.
"""

import hashlib
from collections.abc import Iterator
from functools import cache

from botocore.session import Session

from local_aws.errors import AwsError
from local_aws.hyperpod import model, quotas
from local_aws.json_service import Call, Json, JsonService, page

ROOM = 10_000.0
# https://docs.aws.amazon.com/general/latest/gr/ec2-service.html, https://docs.aws.amazon.com/general/latest/gr/eks.html and
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/limits.html
DEFAULTS = {
    "ec2": (("L-0263D0A3", "EC2-VPC Elastic IPs", 5.0),),
    "eks": (("L-1194D53C", "Clusters", 100.0),),
    "fsx": (
        ("L-9AFA1F09", "Lustre Persistent_1 file systems", 100.0),
        ("L-FD6F2F22", "Lustre Persistent_2 file systems", 100.0),
        ("L-C8640C82", "Lustre Persistent_1 storage capacity", 100_800.0),
        ("L-8F1B9C74", "Lustre Persistent_2 storage capacity", 100_800.0),
    ),
}
OF_ALL_CLUSTERS = (
    "Total number of instances allowed across SageMaker HyperPod clusters",
    "Total number of Spot instances allowed across SageMaker HyperPod clusters",
    "Maximum number instances allowed per SageMaker HyperPod cluster",
    "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance",
)


def list_service_quotas(call: Call) -> Json:
    """Return the account's own values: only SageMaker's. For other services AWS, too, has only defaults until an increase."""
    call.authorize("servicequotas:ListServiceQuotas", None)
    service = _service(call)
    found = list(_of_sagemaker(call)) if service == "sagemaker" else []
    listed, more = page(call, found)
    return {"Quotas": listed, **more}


def list_defaults(call: Call) -> Json:
    """Return the defaults of a new account."""
    from moto.servicequotas.resources.default_quotas.vpc import VPC_DEFAULT_QUOTAS  # noqa: PLC0415  as all of moto

    call.authorize("servicequotas:ListAWSDefaultServiceQuotas", None)
    service = _service(call)
    ours = [_quota(call, service, name, value, code) for code, name, value in DEFAULTS.get(service, ())]
    listed, more = page(call, [*VPC_DEFAULT_QUOTAS] if service == "vpc" else ours)
    return {"Quotas": listed, **more}


def _service(call: Call) -> str:
    service = str(call.request["ServiceCode"])
    if service not in ("sagemaker", "vpc", *DEFAULTS):
        raise AwsError("NoSuchResourceException", f"not part of the embedded AWS: quotas of {service}")
    return service


def _of_sagemaker(call: Call) -> Iterator[Json]:
    limits = quotas.limit({})
    for name in (*_of_types(), *OF_ALL_CLUSTERS):
        yield _quota(call, "sagemaker", name, float(limits.get(name, ROOM)))


@cache
def _of_types() -> tuple[str, ...]:
    types = Session().get_service_model("sagemaker").shape_for("ClusterInstanceType").enum
    return tuple(f"{each} for cluster {kind}" for each in types for kind in ("usage", "spot instance usage"))


def _quota(call: Call, service: str, name: str, value: float, code: str = "") -> Json:
    code = code or f"L-{hashlib.sha256(name.encode()).hexdigest()[:8].upper()}"
    return {
        "ServiceCode": service,
        "ServiceName": service,
        "QuotaCode": code,
        "QuotaName": name,
        "QuotaArn": f"arn:{call.partition}:servicequotas:{call.region}:{call.account}:{service}/{code}",
        "Value": value,
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
    }


OPERATIONS = {"ListServiceQuotas": list_service_quotas, "ListAWSDefaultServiceQuotas": list_defaults}


def install(endpoint: str) -> None:  # noqa: ARG001  part of every service's signature
    """Replace moto's lists."""
    from moto.servicequotas.responses import ServiceQuotasResponse  # noqa: PLC0415  moto is loaded once the environment is set

    JsonService("service-quotas", OPERATIONS, model.lock).install_before(ServiceQuotasResponse)


def reset() -> None:
    """Do nothing: hyperpod/quotas.py has the limits."""
