"""Operations on data repository associations: create, describe, update, delete."""

from local_aws.errors import AwsError
from local_aws.fsx.lustre_rules import bad
from local_aws.fsx.model import (
    Association,
    FileSystem,
    add,
    associations,
    find_association,
    find_file_system,
    known,
    new_id,
    tags_from,
)
from local_aws.fsx.tag_operations import request_context
from local_aws.fsx.transitions import become_available, delete, later
from local_aws.json_service import Call, Json, Operation, page, tag_context

_MOST = 8


def create_data_repository_association(call: Call) -> Json:
    """Create an association in state CREATING."""
    request = call.request
    file_system = find_file_system(call, request["FileSystemId"])
    arn = call.arn("fsx", f"association/{file_system.id}/{new_id('dra')}")
    call.authorize("fsx:CreateDataRepositoryAssociation", arn, request_context(request))
    earlier = known(call, associations(call))
    if earlier:
        return {"Association": earlier.details()}
    path = _normal(request.get("FileSystemPath", "/"))
    _check_file_system(file_system)
    _check_neighbours(call, file_system, path)
    problem = _bucket_problem(call)
    association = Association(
        id=arn.rsplit("/", 1)[1],
        arn=arn,
        file_system=file_system,
        request=request,
        current=dict(request),
        path=path,
        tags=tags_from(request),
    )
    add(association)
    if problem:
        later("fsx.association.create", association, lambda: _misconfigure(association, problem))
    else:
        become_available("fsx.association.create", association, call)
    return {"Association": association.details()}


def _normal(path: str) -> str:
    if not path.startswith("/"):
        raise bad(f"FileSystemPath must start with '/', got '{path}'")
    return path.rstrip("/") or "/"


def _check_file_system(file_system: FileSystem) -> None:
    if file_system.lifecycle != "AVAILABLE":
        raise bad(f"file system {file_system.id} must be AVAILABLE, it is {file_system.lifecycle}")
    if file_system.lustre["DeploymentType"] == "SCRATCH_1" or file_system.version == "2.10":
        kind = f"{file_system.lustre['DeploymentType']} of version {file_system.version}"
        raise bad(f"data repository associations need Lustre 2.12 or newer and no SCRATCH_1, {file_system.id} is {kind}")
    if "DataRepositoryConfiguration" in file_system.lustre:
        raise bad(f"file system {file_system.id} is linked by ImportPath and cannot have associations")
    if file_system.lustre.get("AutomaticBackupRetentionDays"):
        raise bad(f"file system {file_system.id} has automatic backups and cannot be linked to S3")


def _check_neighbours(call: Call, file_system: FileSystem, path: str) -> None:
    others = [one for one in associations(call) if one.file_system is file_system]
    if len(others) >= _MOST:
        raise AwsError("ServiceLimitExceeded", f"a file system can have {_MOST} data repository associations")
    for other in others:
        if _overlap(path, other.path):
            raise bad(f"FileSystemPath '{path}' overlaps '{other.path}' of {other.id}")
        linked = call.request["DataRepositoryPath"], other.current["DataRepositoryPath"]
        if _overlap(*linked):
            raise bad(f"DataRepositoryPath '{linked[0]}' overlaps '{linked[1]}' of {other.id}")


def _overlap(one: str, other: str) -> bool:
    one, other = one.rstrip("/") + "/", other.rstrip("/") + "/"
    return one.startswith(other) or other.startswith(one)


def _bucket_problem(call: Call) -> str | None:
    """Return why FSx cannot access the bucket, or None; refuse another region's bucket for automatic import or export."""
    from moto.s3.models import s3_backends  # noqa: PLC0415  moto is loaded once the environment is set

    path = call.request["DataRepositoryPath"]
    if not path.startswith("s3://"):
        raise bad(f"DataRepositoryPath must start with 's3://', got '{path}'")
    name = path.removeprefix("s3://").partition("/")[0]
    bucket = s3_backends[call.account][call.partition].buckets.get(name)
    if bucket is None:
        return f"Amazon FSx is unable to access the bucket {name}: it does not exist"
    if call.request.get("S3") and bucket.region_name != call.region:
        raise bad(f"automatic import and export need a bucket in {call.region}, {name} is in {bucket.region_name}")
    return None


def _misconfigure(association: Association, problem: str) -> None:
    association.lifecycle, association.failure = "MISCONFIGURED", problem


def describe_data_repository_associations(call: Call) -> Json:
    """Return the associations requested by id or file system, or all, in pages."""
    call.authorize("fsx:DescribeDataRepositoryAssociations", call.arn("fsx", "association/*"))
    ids = call.request.get("AssociationIds")
    found = [find_association(call, one) for one in ids] if ids else associations(call)
    for each in call.request.get("Filters") or []:
        found = [one for one in found if _fields(one).get(each["Name"]) in each["Values"]]
    shown, token = page(call, found, default=25)
    return {"Associations": [one.details() for one in shown], **token}


def _fields(association: Association) -> dict[str, str]:
    """Return the fields that associations can be filtered by."""
    return {"file-system-id": association.file_system.id, "file-system-type": "LUSTRE", "data-repository-type": "S3"}


def update_data_repository_association(call: Call) -> Json:
    """Change the policies or the chunk size; the association is UPDATING until they apply."""
    association = find_association(call, call.request["AssociationId"])
    call.authorize("fsx:UpdateDataRepositoryAssociation", association.arn, tag_context(association.tags, "aws:ResourceTag"))
    if association.lifecycle not in ("AVAILABLE", "MISCONFIGURED"):
        raise bad(f"association {association.id} is {association.lifecycle} and cannot be updated")
    association.current |= {name: call.request[name] for name in ("S3", "ImportedFileChunkSize") if name in call.request}
    association.lifecycle = "UPDATING"
    become_available("fsx.association.update", association, call)
    return {"Association": association.details()}


def delete_data_repository_association(call: Call) -> Json:
    """Delete the association; it is DELETING first, and the files stay unless the request says otherwise."""
    association = find_association(call, call.request["AssociationId"])
    call.authorize("fsx:DeleteDataRepositoryAssociation", association.arn, tag_context(association.tags, "aws:ResourceTag"))
    if association.lifecycle != "DELETING":
        delete("fsx.association.delete", association)
    return {
        "AssociationId": association.id,
        "Lifecycle": "DELETING",
        "DeleteDataInFileSystem": call.request.get("DeleteDataInFileSystem", False),
    }


OPERATIONS: dict[str, Operation] = {
    "CreateDataRepositoryAssociation": create_data_repository_association,
    "DescribeDataRepositoryAssociations": describe_data_repository_associations,
    "UpdateDataRepositoryAssociation": update_data_repository_association,
    "DeleteDataRepositoryAssociation": delete_data_repository_association,
}
