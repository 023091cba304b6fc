"""FSx for Lustre: file systems and data repository associations."""

from abc import abstractmethod

from local_aws.cloudformation.errors import ResourceError
from local_aws.cloudformation.resources.provider import Context, Provider, changed, pick, retag, tolerate
from local_aws.cloudformation.template import Json

LUSTRE = (
    "AutomaticBackupRetentionDays",
    "CopyTagsToBackups",
    "DailyAutomaticBackupStartTime",
    "DataCompressionType",
    "DeploymentType",
    "MetadataConfiguration",
    "PerUnitStorageThroughput",
    "WeeklyMaintenanceStartTime",
)
CAN_CHANGE = (
    "AutomaticBackupRetentionDays",
    "DailyAutomaticBackupStartTime",
    "DataCompressionType",
    "MetadataConfiguration",
    "WeeklyMaintenanceStartTime",
)


class _Part(Provider):
    """A resource with a lifecycle."""

    @abstractmethod
    def _describe(self, context: Context, physical_id: str) -> Json: ...

    def settle(self, context: Context, physical_id: str, properties: Json) -> None:
        """Wait until the resource is available."""

        def look() -> bool | None:
            found = self._describe(context, physical_id)
            if found["Lifecycle"] in ("FAILED", "MISCONFIGURED"):
                raise ResourceError(found.get("FailureDetails", {}).get("Message") or f"{physical_id} is {found['Lifecycle']}")
            return True if found["Lifecycle"] == "AVAILABLE" else None

        context.until(look)

    def _retag(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        retag(context.client("fsx"), properties, before, ResourceARN=self._describe(context, physical_id)["ResourceARN"])


class FileSystem(_Part):
    """AWS::FSx::FileSystem, of type LUSTRE."""

    type = "AWS::FSx::FileSystem"
    acts_on = (
        "FileSystemType",
        "FileSystemTypeVersion",
        "KmsKeyId",
        "SecurityGroupIds",
        "StorageCapacity",
        "StorageType",
        "SubnetIds",
        "Tags",
        *(f"LustreConfiguration/{name}" for name in LUSTRE),
    )

    def create(self, context: Context, properties: Json) -> str:
        """Create the file system and return its id."""
        names = [path for path in self.acts_on if "/" not in path and path != "Tags"]
        answer = context.client("fsx").create_file_system(
            **pick(properties, *names, "LustreConfiguration"), Tags=context.tags(properties)
        )
        return str(answer["FileSystem"]["FileSystemId"])

    def _describe(self, context: Context, physical_id: str) -> Json:
        return dict(context.client("fsx").describe_file_systems(FileSystemIds=[physical_id])["FileSystems"][0])

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the ARN, DNS name and mount name."""
        found = self._describe(context, physical_id)
        return {
            "Id": physical_id,
            "DNSName": found["DNSName"],
            "LustreMountName": found["LustreConfiguration"]["MountName"],
            "ResourceARN": found["ResourceARN"],
        }

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the capacity, compression, backups, maintenance window and tags."""
        lustre, old = properties.get("LustreConfiguration") or {}, before.get("LustreConfiguration") or {}
        arguments: Json = {}
        if changed(properties, before, "StorageCapacity"):
            arguments["StorageCapacity"] = properties["StorageCapacity"]
        configuration = {name: lustre[name] for name in CAN_CHANGE if name in lustre and lustre[name] != old.get(name)}
        if configuration:
            arguments["LustreConfiguration"] = configuration
        if arguments:
            context.client("fsx").update_file_system(FileSystemId=physical_id, **arguments)
        self._retag(context, physical_id, properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the file system and wait until it is gone."""
        with tolerate("FileSystemNotFound"):
            context.client("fsx").delete_file_system(FileSystemId=physical_id)
            context.until(lambda: None if self._describe(context, physical_id) else True)


class DataRepositoryAssociation(_Part):
    """AWS::FSx::DataRepositoryAssociation."""

    type = "AWS::FSx::DataRepositoryAssociation"
    acts_on = (
        "BatchImportMetaDataOnCreate",
        "DataRepositoryPath",
        "FileSystemId",
        "FileSystemPath",
        "ImportedFileChunkSize",
        "S3",
        "Tags",
    )

    def create(self, context: Context, properties: Json) -> str:
        """Create the association and return its id."""
        names = [path for path in self.acts_on if path != "Tags"]
        answer = context.client("fsx").create_data_repository_association(
            **pick(properties, *names), Tags=context.tags(properties)
        )
        return str(answer["Association"]["AssociationId"])

    def _describe(self, context: Context, physical_id: str) -> Json:
        found = context.client("fsx").describe_data_repository_associations(AssociationIds=[physical_id])
        return dict(found["Associations"][0])

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the id and ARN."""
        return {"AssociationId": physical_id, "ResourceARN": self._describe(context, physical_id)["ResourceARN"]}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the policies, the chunk size and tags."""
        if changed(properties, before, "S3", "ImportedFileChunkSize"):
            arguments = pick(properties, "S3", "ImportedFileChunkSize")
            context.client("fsx").update_data_repository_association(AssociationId=physical_id, **arguments)
        self._retag(context, physical_id, properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the association, but not its files, and wait until it is gone."""
        with tolerate("DataRepositoryAssociationNotFound"):
            context.client("fsx").delete_data_repository_association(AssociationId=physical_id, DeleteDataInFileSystem=False)
            context.until(lambda: None if self._describe(context, physical_id) else True)


PROVIDERS = (FileSystem(), DataRepositoryAssociation())
