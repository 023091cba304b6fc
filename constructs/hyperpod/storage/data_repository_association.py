"""Define a data repository association."""

from aws_cdk import aws_fsx as fsx
from constructs import Construct

from config.storage import DataRepositoryAssociation as AssociationConfig


class DataRepositoryAssociation(Construct):
    """Define a link between a directory of the file system and a prefix of a bucket.

    It is deleted with the stack, even if file system and bucket are retained. Their data stays, and the next deployment links
    them again.
    """

    def __init__(self, scope: Construct, id: str, *, config: AssociationConfig, file_system_id: str, bucket_name: str) -> None:
        super().__init__(scope, id)
        imported = [event.value for event in config.auto_import]
        exported = [event.value for event in config.auto_export]
        fsx.CfnDataRepositoryAssociation(
            self,
            "Resource",
            file_system_id=file_system_id,
            file_system_path=config.path,
            data_repository_path=f"s3://{bucket_name}/{config.prefix}",
            batch_import_meta_data_on_create=config.import_metadata_on_create,
            imported_file_chunk_size=config.imported_file_chunk_size_mib,
            s3=fsx.CfnDataRepositoryAssociation.S3Property(
                auto_import_policy=fsx.CfnDataRepositoryAssociation.AutoImportPolicyProperty(events=imported)
                if imported
                else None,
                auto_export_policy=fsx.CfnDataRepositoryAssociation.AutoExportPolicyProperty(events=exported)
                if exported
                else None,
            ),
        )
