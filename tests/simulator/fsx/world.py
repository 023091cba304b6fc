"""What the tests of file systems do over and over, in an account with a VPC that Lustre can live in."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import boto3

from local_aws.credentials import OWNER

REGION = "us-west-2"
Hold: TypeAlias = Callable[[str], None]


@dataclass
class World:
    """Clients of the embedded AWS, and what was made there before the tests."""

    endpoint: str
    ids: dict[str, str] = field(default_factory=dict)

    def client(self, service: str, region: str = REGION) -> Any:
        return boto3.client(service, endpoint_url=self.endpoint, region_name=region, **OWNER.client_keys)

    @cached_property
    def fsx(self) -> Any:
        return self.client("fsx")

    @cached_property
    def ec2(self) -> Any:
        return self.client("ec2")

    def until(self, look: Callable[[], Any], ok: Callable[[Any], bool]) -> Any:
        return until(look, ok)

    def request(self, **more: Any) -> dict[str, Any]:
        """A request for the reference's file system."""
        lustre = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250, "DataCompressionType": "LZ4"}
        place = {"SubnetIds": [self.ids["subnet"]], "SecurityGroupIds": [self.ids["security_group"]]}
        what = {"FileSystemType": "LUSTRE", "FileSystemTypeVersion": "2.15", "StorageCapacity": 1200}
        return {**what, **place, "LustreConfiguration": lustre, **more}

    def lustre(self, **lustre: Any) -> dict[str, Any]:
        """The same with another Lustre configuration."""
        return self.request(LustreConfiguration=lustre)

    def create(self, **more: Any) -> str:
        return str(self.fsx.create_file_system(**self.request(**more))["FileSystem"]["FileSystemId"])

    def file_system(self, file_system_id: str) -> dict[str, Any]:
        return dict(self.fsx.describe_file_systems(FileSystemIds=[file_system_id])["FileSystems"][0])

    def available(self, **more: Any) -> str:
        """A file system that is up."""
        file_system_id = self.create(**more)
        self.until_lifecycle(file_system_id, "AVAILABLE")
        return file_system_id

    def until_lifecycle(self, file_system_id: str, lifecycle: str) -> dict[str, Any]:
        return dict(until(lambda: self.file_system(file_system_id), lambda seen: seen["Lifecycle"] == lifecycle))

    def until_gone(self) -> None:
        until(lambda: self.fsx.describe_file_systems()["FileSystems"], lambda left: left == [])

    def link(self, file_system_id: str, path: str = "/data", **more: Any) -> str:
        """A new association; its id."""
        request = {"DataRepositoryPath": f"s3://data{path}", "FileSystemPath": path, **more}
        answer = self.fsx.create_data_repository_association(FileSystemId=file_system_id, **request)
        return str(answer["Association"]["AssociationId"])

    def association(self, association_id: str) -> dict[str, Any]:
        found = self.fsx.describe_data_repository_associations(AssociationIds=[association_id])
        return dict(found["Associations"][0])

    def until_linked(self, association_id: str, lifecycle: str = "AVAILABLE") -> dict[str, Any]:
        return dict(until(lambda: self.association(association_id), lambda seen: seen["Lifecycle"] == lifecycle))


def until(look: Callable[[], Any], ok: Callable[[Any], bool], seconds: float = 60) -> Any:
    """What ``look`` sees once ``ok`` is content with it; the last sight is in the error."""
    end = time.monotonic() + seconds
    while not ok(seen := look()):
        assert time.monotonic() < end, f"still not so after {seconds} s: {seen}"
        time.sleep(0.01)  # between two looks over HTTP, as a client does
    return seen
