import pytest
from botocore.exceptions import ClientError

from tests.simulator.fsx.world import Hold, World

pytestmark = pytest.mark.local

ALL = ["NEW", "CHANGED", "DELETED"]
BOTH_WAYS = {"AutoImportPolicy": {"Events": ALL}, "AutoExportPolicy": {"Events": ALL}}


def test_an_association_becomes_available_and_shows_what_it_imports_and_exports(world: World) -> None:
    file_system_id = world.available()
    association_id = world.link(file_system_id, "/data", BatchImportMetaDataOnCreate=True, S3=BOTH_WAYS)
    seen = world.until_linked(association_id)
    assert (seen["FileSystemPath"], seen["BatchImportMetaDataOnCreate"]) == ("/data", True)
    assert seen["S3"] == BOTH_WAYS
    assert seen["ImportedFileChunkSize"] == 1024


def test_a_file_system_that_is_not_available_takes_none(world: World, hold: Hold) -> None:
    hold("fsx.create")
    with pytest.raises(ClientError, match="must be AVAILABLE, it is CREATING"):
        world.link(world.create())


@pytest.mark.parametrize(
    ("path", "bucket"), [("/data/deeper", "s3://data/other"), ("/", "s3://data/x"), ("/b", "s3://data/data/b")]
)
def test_paths_that_overlap_are_refused(world: World, path: str, bucket: str) -> None:
    file_system_id = world.available()
    world.link(file_system_id, "/data")
    with pytest.raises(ClientError, match="overlaps"):
        world.link(file_system_id, path, DataRepositoryPath=bucket)


def test_a_path_that_only_starts_alike_does_not_overlap(world: World) -> None:
    file_system_id = world.available()
    world.link(file_system_id, "/data")
    world.until_linked(world.link(file_system_id, "/data2"))


def test_the_ninth_is_refused(world: World) -> None:
    file_system_id = world.available()
    for number in range(8):
        world.link(file_system_id, f"/p{number}")
    with pytest.raises(ClientError, match="ServiceLimitExceeded"):
        world.link(file_system_id, "/p8")


def test_a_bucket_of_another_region_is_refused_where_anything_is_automatic(world: World) -> None:
    far = {"LocationConstraint": "eu-west-1"}
    world.client("s3", region="eu-west-1").create_bucket(Bucket="far", CreateBucketConfiguration=far)
    file_system_id = world.available()
    with pytest.raises(ClientError, match="need a bucket in us-west-2, far is in eu-west-1"):
        world.link(file_system_id, S3=BOTH_WAYS, DataRepositoryPath="s3://far/data")
    world.until_linked(world.link(file_system_id, DataRepositoryPath="s3://far/data"))


def test_a_bucket_that_does_not_exist_leaves_it_misconfigured(world: World) -> None:
    seen = world.until_linked(world.link(world.available(), DataRepositoryPath="s3://nowhere/data"), "MISCONFIGURED")
    assert "nowhere" in seen["FailureDetails"]["Message"]


def test_an_old_lustre_takes_none(world: World) -> None:
    file_system_id = world.available(
        FileSystemTypeVersion="2.10", LustreConfiguration={"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 50}
    )
    with pytest.raises(ClientError, match=r"need Lustre 2\.12"):
        world.link(file_system_id)


def test_a_file_system_with_backups_takes_none(world: World) -> None:
    lustre = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125, "AutomaticBackupRetentionDays": 7}
    with pytest.raises(ClientError, match="automatic backups"):
        world.link(world.available(LustreConfiguration=lustre))


def test_policies_can_be_changed(world: World) -> None:
    association_id = world.link(world.available(), S3=BOTH_WAYS)
    world.until_linked(association_id)
    world.fsx.update_data_repository_association(
        AssociationId=association_id, S3={"AutoImportPolicy": {"Events": ["NEW"]}}, ImportedFileChunkSize=2048
    )
    assert world.association(association_id)["Lifecycle"] in ("UPDATING", "AVAILABLE")
    seen = world.until_linked(association_id)
    assert (seen["S3"], seen["ImportedFileChunkSize"]) == ({"AutoImportPolicy": {"Events": ["NEW"]}}, 2048)


def test_a_deleted_association_frees_its_path(world: World) -> None:
    file_system_id = world.available()
    association_id = world.link(file_system_id)
    world.until_linked(association_id)
    world.fsx.delete_data_repository_association(AssociationId=association_id)
    world.until(lambda: world.fsx.describe_data_repository_associations()["Associations"], lambda left: left == [])
    with pytest.raises(ClientError, match="DataRepositoryAssociationNotFound"):
        world.association(association_id)
    world.link(file_system_id)


def test_associations_go_with_their_file_system(world: World) -> None:
    file_system_id = world.available()
    world.until_linked(world.link(file_system_id))
    world.fsx.delete_file_system(FileSystemId=file_system_id)
    world.until_gone()
    assert world.fsx.describe_data_repository_associations()["Associations"] == []


def test_associations_are_found_by_their_file_system(world: World) -> None:
    one, other = world.available(), world.available()
    mine = world.link(one)
    world.link(other)
    filters = [{"Name": "file-system-id", "Values": [one]}]
    found = world.fsx.describe_data_repository_associations(Filters=filters)["Associations"]
    assert [association["AssociationId"] for association in found] == [mine]
