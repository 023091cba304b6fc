"""Training jobs: their kinds, their ranks, and the pods and the service that the simulated operator creates for them."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from local_aws.json_service import Json

_PORT = 23456
_ANNOTATION = "sagemaker.amazonaws.com/"


@dataclass(frozen=True)
class Kind:
    """A kind of training jobs."""

    group: str
    plural: str
    name: str
    prefix: str  # of the labels of its pods

    @property
    def path(self) -> str:
        """Return the path of all jobs of the kind."""
        return f"/apis/{self.group}/v1/{self.plural}"

    def definition(self) -> Json:
        """Return the definition of the kind: no field is checked."""
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        columns = [{"name": "State", "type": "string", "jsonPath": ".status.conditions[-1:].type"}]
        version = {
            "name": "v1",
            "served": True,
            "storage": True,
            "subresources": {"status": {}},
            "additionalPrinterColumns": columns,
            "schema": {"openAPIV3Schema": schema},
        }
        names = {"kind": self.name, "plural": self.plural, "singular": self.name.lower(), "listKind": f"{self.name}List"}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{self.plural}.{self.group}"},
            "spec": {"group": self.group, "names": names, "scope": "Namespaced", "versions": [version]},
        }


PYTORCH = Kind("kubeflow.org", "pytorchjobs", "PyTorchJob", "training.kubeflow.org")
HYPERPOD = Kind("sagemaker.amazonaws.com", "hyperpodpytorchjobs", "HyperPodPyTorchJob", "sagemaker.amazonaws.com")


@dataclass(frozen=True)
class Job:
    """A training job as the API server has it."""

    kind: Kind
    item: Json

    @property
    def name(self) -> str:
        """Return the job's name."""
        return str(self.item["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Return the job's namespace."""
        return str(self.item["metadata"]["namespace"])

    @property
    def path(self) -> str:
        """Return the path of the job."""
        return f"/apis/{self.kind.group}/v1/namespaces/{self.namespace}/{self.kind.plural}/{self.name}"

    @property
    def status(self) -> Json:
        """Return what the operator noted."""
        return dict(self.item.get("status") or {})

    @property
    def state(self) -> str:
        """Return the last state that the operator noted."""
        conditions = self.status.get("conditions") or [{}]
        return str(conditions[-1].get("type", ""))

    @property
    def retries(self) -> int:
        """Return how often the job was restarted."""
        return int(self.status.get("restartCount", 0))

    @property
    def most_retries(self) -> int:
        """Return how often the job may be restarted.

        https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-auto-resume.html
        """
        if self.kind == HYPERPOD:
            return int((self._spec.get("runPolicy") or {}).get("jobMaxRetryCount", 0))
        annotations = self.item["metadata"].get("annotations") or {}
        resumes = annotations.get(f"{_ANNOTATION}enable-job-auto-resume") == "true"
        return int(annotations.get(f"{_ANNOTATION}job-max-retry-count", 1)) if resumes else 0

    @property
    def labels(self) -> dict[str, str]:
        """Return the label of the job's pods."""
        return {f"{self.kind.prefix}/job-name": self.name}

    @cached_property
    def pods(self) -> dict[str, Json]:
        """Return the pods of all ranks by name; the first has rank 0."""
        ranks = list(self._ranks())
        return {name: self._pod(name, rank, len(ranks), ranks[0][0]) for rank, (name, _) in enumerate(ranks)}

    def service(self) -> Json:
        """Return the headless service with the name of rank 0."""
        first = next(iter(self.pods))
        ports = [{"name": "rendezvous", "port": _PORT}]
        selector = self.labels | {f"{self.kind.prefix}/rank": "0"}
        spec = {"clusterIP": "None", "selector": selector, "ports": ports, "publishNotReadyAddresses": True}
        return {"metadata": {"name": first, "ownerReferences": self._owners}, "spec": spec}

    @property
    def _spec(self) -> Json:
        return dict(self.item.get("spec") or {})

    @property
    def _owners(self) -> list[Json]:
        own = {"apiVersion": f"{self.kind.group}/v1", "kind": self.kind.name, "name": self.name}
        return [own | {"uid": self.item["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}]

    def _ranks(self) -> Iterator[tuple[str, Json]]:
        """Yield each rank's name and replica specification."""
        if self.kind == HYPERPOD:
            named = [(str(each["name"]).lower(), each) for each in self._spec.get("replicaSpecs") or ()]
        else:
            specs = self._spec.get("pytorchReplicaSpecs") or {}
            named = [(role.lower(), specs[role]) for role in ("Master", "Worker") if role in specs]
        for role, spec in named:
            for number in range(int(spec.get("replicas", 1))):
                yield f"{self.name}-{role}-{number}", spec

    def _pod(self, name: str, rank: int, size: int, first: str) -> Json:
        spec = next(spec for other, spec in self._ranks() if other == name)
        template = copy.deepcopy(spec.get("template") or {})
        body, metadata = template.get("spec") or {}, template.get("metadata") or {}
        values = {"MASTER_ADDR": first, "MASTER_PORT": str(_PORT), "WORLD_SIZE": str(size), "RANK": str(rank)}
        for container in body.get("containers") or ():
            own = [{"name": key, "value": value} for key, value in values.items()]
            container["env"] = [*own, *(container.get("env") or ())]
        policy = spec.get("restartPolicy") or body.get("restartPolicy") or "OnFailure"
        body["restartPolicy"] = "Never" if policy == "ExitCode" else policy
        labels = {**(metadata.get("labels") or {}), **self.labels, f"{self.kind.prefix}/rank": str(rank)}
        own_metadata = {"name": name, "labels": labels, "ownerReferences": self._owners}
        return {"metadata": metadata | own_metadata, "spec": body}
