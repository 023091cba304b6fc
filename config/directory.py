"""Define the directory section."""

from enum import StrEnum
from typing import Annotated

from pydantic import StrictBool, StrictInt, StringConstraints

from config.section import Change, KeyArn, Section, setting
from config.users import FIRST_ID, LAST_ID

LdapUri = Annotated[
    str, StringConstraints(pattern=r"^ldaps?://[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]{1,5})?$", max_length=255)
]
DistinguishedName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-zA-Z][a-zA-Z0-9.-]* ?=[^\r\n=]+(,? ?[a-zA-Z][a-zA-Z0-9.-]* ?=[^\r\n=]+)*$", max_length=1024),
]
# Without commas, which separate them in sssd.conf, and without characters with a meaning in sudoers.
GroupName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9_]([a-zA-Z0-9_. -]*[a-zA-Z0-9_.-])?$", max_length=256)]
SssdValue = Annotated[str, StringConstraints(pattern=r"^\S([^\r\n]*\S)?$", max_length=4096)]

# SSSD's ldap_idmap_range_min and ldap_idmap_range_max: the ids that it derives from the SIDs of Active Directory.
MAPPED_IDS = (200000, 2000200000)


class DirectoryType(StrEnum):
    """The kind of a directory."""

    LDAP = "ldap"
    ACTIVE_DIRECTORY = "active_directory"


class DirectoryConfig(Section):
    """Users of an existing directory, through SSSD on every node; `users` and `user_groups` stay beside them."""

    type: DirectoryType = setting(
        "`ldap`: with POSIX accounts (RFC 2307), e.g. OpenLDAP; `active_directory`: also AWS Managed Microsoft AD, read by LDAP "
        "without joining the domain",
        Change.RUNNING_NODES,
    )
    uris: tuple[LdapUri, ...] = setting(
        "servers in the order of use: `ldaps://HOST`, or `ldap://HOST`, which always uses StartTLS",
        Change.RUNNING_NODES,
        min_length=1,
        max_length=10,
    )
    search_base: DistinguishedName = setting(
        "DN below which all users and groups are, e.g. `dc=example,dc=com`", Change.RUNNING_NODES
    )
    bind_dn: DistinguishedName = setting("DN of the read-only account that SSSD binds as", Change.RUNNING_NODES)
    secret_arn: str = setting(
        "Secrets Manager secret with the password of `bind_dn`, as text or as `password` in a JSON object",
        Change.RUNNING_NODES,
        pattern=r"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[a-zA-Z0-9/_+=.@!-]+-[a-zA-Z0-9]{6}$",
        max_length=2048,
    )
    secret_key_arn: KeyArn | None = setting(
        "customer managed KMS key of the secret; its key policy must allow access through IAM policies", Change.IN_PLACE, None
    )
    ca_certificates: str | None = setting(
        "certificates of the servers' authorities, the text of a PEM file; default: the image's public authorities",
        Change.RUNNING_NODES,
        None,
        min_length=1,
        max_length=65536,
    )
    access_filter: SssdValue | None = setting(
        "LDAP filter of the users who may log in, e.g. `(memberOf=cn=ml,ou=groups,dc=example,dc=com)`; default: all",
        Change.RUNNING_NODES,
        None,
    )
    allowed_groups: tuple[GroupName, ...] = setting(
        "groups whose members may log in, instead of `access_filter`; only with `type: ldap`; default: all users",
        Change.RUNNING_NODES,
        (),
        max_length=100,
    )
    sudo_groups: tuple[GroupName, ...] = setting(
        "groups whose members may use sudo on every node, without a password", Change.RUNNING_NODES, (), max_length=100
    )
    home_directory: str | None = setting(
        "home of each user, with `%u` for its name; it replaces the directory's; default: `%u` in `storage.homes`",
        Change.RUNNING_NODES,
        None,
        pattern=r"^(/[a-zA-Z0-9_-][a-zA-Z0-9._-]*)*/%u$",
        max_length=200,
    )
    shell: str = setting(
        "shell of users for whom the directory has none that the image has",
        Change.RUNNING_NODES,
        "/bin/bash",
        pattern=r"^(/[a-zA-Z0-9_-][a-zA-Z0-9._-]*)+$",
        max_length=255,
    )
    ssh_public_key_attribute: str | None = setting(
        "attribute with a user's public keys for SSH, e.g. `altSecurityIdentities` in Active Directory; `null`: the directory "
        "has no keys",
        Change.RUNNING_NODES,
        "sshPublicKey",
        pattern=r"^[a-zA-Z][a-zA-Z0-9-]*$",
        max_length=128,
    )
    ssh_passwords: StrictBool = setting("allow SSH with the directory's password", Change.RUNNING_NODES, default=False)
    id_mapping: StrictBool = setting(
        "derive uids and gids from Active Directory's SIDs, the same on every node; otherwise users need `uidNumber` and "
        "`gidNumber`",
        Change.RUNNING_NODES,
        default=False,
    )
    min_id: StrictInt = setting(
        "lowest uid and gid of the directory; SSSD ignores users and groups below it",
        Change.RUNNING_NODES,
        FIRST_ID,
        ge=1,
        le=LAST_ID,
    )
    max_id: StrictInt | None = setting(
        "highest uid and gid of the directory; SSSD ignores users and groups above it; default: none",
        Change.RUNNING_NODES,
        None,
        ge=1,
        le=LAST_ID,
    )
    options: dict[str, SssdValue] = setting(
        "settings of the domain in sssd.conf, e.g. `ldap_schema: rfc2307bis`, which take precedence; all values are text",
        Change.RUNNING_NODES,
        {},
        max_length=100,
    )

    @property
    def id_range(self) -> tuple[int, int] | None:
        """Return the lowest and highest id of the directory, as far as the file states them."""
        if self.max_id is not None:
            return self.min_id, self.max_id
        return MAPPED_IDS if self.id_mapping else None
