"""Check the directory of users."""

import re
from collections.abc import Iterator

from config.arns import Arn, elsewhere
from config.directory import DirectoryConfig, DirectoryType
from config.entries import numbered
from config.errors import Level, Problem
from config.model import ClusterConfig
from config.secret_values import is_secret
from validation.rules.registry import FILE_SYSTEMS, rule

# Settings of SSSD that a field or this project's scripts write.
FIELDS = {
    "ldap_uri": "uris",
    "ldap_search_base": "search_base",
    "ldap_default_bind_dn": "bind_dn",
    "ldap_tls_cacert": "ca_certificates",
    "access_provider": "access_filter or allowed_groups",
    "ldap_access_filter": "access_filter",
    "simple_allow_groups": "allowed_groups",
    "override_homedir": "home_directory",
    "ldap_user_ssh_public_key": "ssh_public_key_attribute",
    "ldap_id_mapping": "id_mapping",
    "min_id": "min_id",
    "max_id": "max_id",
}
PASSWORDS = ("ldap_default_authtok", "ldap_default_authtok_type")
UNENCRYPTED = ("ldap_id_use_start_tls", "ldap_tls_reqcert", "ldap_auth_disable_tls_never_use_in_production")
NAME = re.compile(r"[a-z][a-z0-9_]*")


@rule("directory-access", "directory")
def directory_access(config: ClusterConfig) -> Iterator[Problem]:
    """`directory.allowed_groups` requires `type: ldap`, and excludes `access_filter`.

    SSSD checks either groups or a filter. Its check of groups does not see disabled accounts of Active Directory.
    """
    found = config.directory
    if found is None or not found.allowed_groups:
        return
    value = ", ".join(found.allowed_groups)
    if found.type is DirectoryType.ACTIVE_DIRECTORY:
        fix = "use `access_filter: (memberOf=DN)`, or `(memberOf:1.2.840.113556.1.4.1941:=DN)` for nested groups"
        yield Problem(("directory", "allowed_groups"), value, "does not refuse disabled accounts of Active Directory", fix)
    elif found.access_filter is not None:
        yield Problem(("directory", "allowed_groups"), value, "has no effect with `access_filter`", "remove one of them")


@rule("directory-id-mapping", "directory")
def directory_id_mapping(config: ClusterConfig) -> Iterator[Problem]:
    """`directory.id_mapping` requires `type: active_directory`.

    Other directories have no SIDs: SSSD would find no user.
    """
    found = config.directory
    if found and found.id_mapping and found.type is not DirectoryType.ACTIVE_DIRECTORY:
        yield Problem(("directory", "id_mapping"), value=True, message="requires `type: active_directory`", fix="remove it")


@rule("directory-id-range", "directory")
def directory_id_range(config: ClusterConfig) -> Iterator[Problem]:
    """`directory.max_id` must be at least `min_id`.

    Otherwise SSSD ignores all users.
    """
    found = config.directory
    if found and found.max_id is not None and found.max_id < found.min_id:
        yield Problem(("directory", "max_id"), found.max_id, f"less than `min_id` {found.min_id}", "use a higher number")


@rule("directory-local-ids", "directory", "users[]", "user_groups[]")
def directory_local_ids(config: ClusterConfig) -> Iterator[Problem]:
    """Ids in `users` and `user_groups` must be outside the directory's range (`min_id` to `max_id`, or that of `id_mapping`).

    A local user with the id of a user of the directory owns the files of both.
    """
    limits = config.directory.id_range if config.directory else None
    if limits is None:
        return
    first, last = limits
    entries = [
        *((("users", index, "uid"), user.uid) for index, user in numbered(config.users)),
        *((("user_groups", index, "gid"), group.gid) for index, group in numbered(config.user_groups)),
    ]
    for path, number in entries:
        if first <= number <= last:
            yield Problem(path, number, f"in the directory's range {first} to {last}", "use another number, or narrow the range")


@rule("directory-options", "directory")
def directory_options(config: ClusterConfig) -> Iterator[Problem]:
    """`directory.options` must not contain passwords, settings of other fields, or settings that weaken TLS.

    The file is in a repository, duplicate settings contradict each other, and LDAP without TLS sends passwords in plain text.
    """
    for name, value in (config.directory.options if config.directory else {}).items():
        path = ("directory", "options", name)
        if name in PASSWORDS or is_secret((name,)):
            yield Problem(path, "...", "the file must not contain secrets", "store the password in the secret of `secret_arn`")
        elif name in UNENCRYPTED:
            yield Problem(path, value, "connections always use TLS with a checked certificate", "remove it")
        elif name in FIELDS:
            yield Problem(path, value, "set by a field", f"use `{FIELDS[name]}` instead")
        elif not NAME.fullmatch(name):
            yield Problem(path, value, "not the name of a setting in sssd.conf", "use a name like ldap_schema")


@rule("directory-certificates", "directory")
def directory_certificates(config: ClusterConfig) -> Iterator[Problem]:
    """`directory.ca_certificates` must contain certificates in PEM format, and no private key.

    Without a certificate no node can connect; a private key in the file would let its readers pose as the directory.
    """
    text = config.directory.ca_certificates if config.directory else None
    if text is None:
        return
    path = ("directory", "ca_certificates")
    if "PRIVATE KEY-----" in text:
        yield Problem(path, "...", "contains a private key", "keep only the certificates, and replace the key")
    elif not re.search(r"-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]+-----END CERTIFICATE-----", text):
        yield Problem(path, text[:40], "contains no certificate", "use the text of a PEM file, as a block with `|`")


@rule("directory-secret-key", "directory")
def directory_secret_key(config: ClusterConfig) -> Iterator[Problem]:
    """The KMS key of the directory's secret must be in the secret's region.

    Secrets Manager uses only keys in its own region, so another key cannot decrypt the secret.
    """
    found = config.directory
    if found and found.secret_key_arn and Arn.of(found.secret_arn).region != Arn.of(found.secret_key_arn).region:
        place = Arn.of(found.secret_key_arn).region
        message = f"is in {place}, but the secret is in {Arn.of(found.secret_arn).region}"
        yield Problem(("directory", "secret_key_arn"), found.secret_key_arn, message, "use the secret's key")


@rule("directory-secret-location", "directory", "region", "account", level=Level.WARNING)
def directory_secret_location(config: ClusterConfig) -> Iterator[Problem]:
    """The directory's secret should be in the cluster's region and account.

    Otherwise the setup of every node depends on another region, or on the permissions of another account.
    """
    found = config.directory
    if found and (where := elsewhere(found.secret_arn, config)):
        fix = "use a secret in the cluster's region and account, or suppress this warning"
        yield Problem(("directory", "secret_arn"), found.secret_arn, where, fix)


@rule("directory-homes", "directory", *FILE_SYSTEMS, level=Level.WARNING)
def directory_homes(config: ClusterConfig) -> Iterator[Problem]:
    """A cluster with a directory should have a file system for homes.

    Otherwise a home exists only on the node of the login: jobs start elsewhere without it, and a replaced node loses it.
    """
    if config.directory and not config.storage.file_systems:
        yield _of_type(config.directory, "has no shared homes without a file system", "add `storage`, or suppress this warning")


@rule("directory-lifecycle-source", "directory", "lifecycle", level=Level.WARNING)
def directory_lifecycle_source(config: ClusterConfig) -> Iterator[Problem]:
    """`directory` requires the default lifecycle scripts.

    `lifecycle.source` replaces the scripts that set up SSSD.
    """
    if config.directory and config.lifecycle.source is not None:
        fix = "set up SSSD in your scripts and suppress this warning, or remove `lifecycle.source`"
        yield _of_type(config.directory, "not set up by scripts of `lifecycle.source`", fix)


def _of_type(directory: DirectoryConfig, message: str, fix: str) -> Problem:
    return Problem(("directory", "type"), directory.type.value, message, fix)
