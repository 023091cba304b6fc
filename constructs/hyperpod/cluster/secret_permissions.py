"""Define the permissions of nodes on secrets."""

from aws_cdk import aws_iam as iam

from config.model import ClusterConfig


def read_secrets(config: ClusterConfig) -> list[iam.PolicyStatement]:
    """Allow the controller to read the accounting database's password, and all nodes the directory's."""
    accounting, directory = config.slurm.accounting if config.slurm else None, config.directory
    return [
        *(_read("Accounting", accounting.secret_arn, accounting.secret_key_arn) if accounting else []),
        *(_read("Directory", directory.secret_arn, directory.secret_key_arn) if directory else []),
    ]


def _read(name: str, arn: str | None, key_arn: str | None) -> list[iam.PolicyStatement]:
    """Allow reading one secret, and decrypting it only through Secrets Manager."""
    statements = []
    if arn:
        sid, actions = f"Read{name}Secret", ["secretsmanager:GetSecretValue"]
        statements.append(iam.PolicyStatement(sid=sid, actions=actions, resources=[arn]))
    if key_arn:
        service = f"secretsmanager.{key_arn.split(':')[3]}.amazonaws.com"
        statements.append(
            iam.PolicyStatement(
                sid=f"Decrypt{name}Secret",
                actions=["kms:Decrypt"],
                resources=[key_arn],
                conditions={"StringEquals": {"kms:ViaService": service}},
            )
        )
    return statements
