"""Write SSSD's configuration, as described in sssd.conf(5) and sssd-ldap(5)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.node_settings import ACTIVE_DIRECTORY

if TYPE_CHECKING:
    from pathlib import Path

    from hyperpod_node.node_settings import Directory

HEADER = "# Written by the lifecycle scripts from the cluster file.\n"
DOMAIN = "directory"


def password_in(secret: str, arn: str) -> str:
    """Return the password: the whole secret, or `password` of a JSON object; it must fit on a line of sssd.conf."""
    try:
        content = json.loads(secret)
    except (ValueError, RecursionError):
        content = None
    password = content.get("password") if isinstance(content, dict) else secret
    if not isinstance(password, str) or not password:  # a server accepts an empty one as an anonymous bind
        raise NodeError(f"{arn} has no password; store the password itself, or a JSON object with the string `password`")
    if password != password.strip() or not password.isprintable():
        raise NodeError(
            f"{arn}: sssd.conf cannot contain this password; use one without blanks at its ends and control characters"
        )
    return password


def render(directory: Directory, password: str, home_directory: str, authorities: Path | None) -> str:
    """Return sssd.conf. Users can log in offline, with the password or key that they used last."""
    # `*`: a login shell that the image lacks falls back to the cluster file's.
    nss = {"allowed_shells": "*", "shell_fallback": directory.shell, "default_shell": directory.shell}
    domain = {
        **_connection(directory, password, authorities),
        **_accounts(directory, home_directory),
        **_access(directory),
        **directory.options,
    }
    sections = {
        "sssd": {"config_file_version": "2", "services": "nss, pam, ssh", "domains": DOMAIN},
        "nss": nss,
        f"domain/{DOMAIN}": domain,
    }
    return HEADER + "\n".join(
        "\n".join([f"[{name}]", *(f"{key} = {value}" for key, value in values.items()), ""]) for name, values in sections.items()
    )


def _connection(directory: Directory, password: str, authorities: Path | None) -> dict[str, str]:
    return {
        "id_provider": "ldap",
        "auth_provider": "ldap",
        "ldap_uri": ", ".join(directory.uris),
        "ldap_search_base": directory.search_base,
        "ldap_default_bind_dn": directory.bind_dn,
        "ldap_default_authtok": password,
        "ldap_id_use_start_tls": "true",  # with ldap://
        "ldap_tls_reqcert": "demand",
        **({"ldap_tls_cacert": str(authorities)} if authorities else {}),
        "ldap_referrals": "false",
        "cache_credentials": "true",
        "enumerate": "false",
    }


def _accounts(directory: Directory, home_directory: str) -> dict[str, str]:
    return {
        **({"ldap_schema": "ad", "case_sensitive": "false"} if directory.type == ACTIVE_DIRECTORY else {}),
        "ldap_id_mapping": str(directory.id_mapping).lower(),
        "min_id": str(directory.min_id),
        **({"max_id": str(directory.max_id)} if directory.max_id else {}),
        "override_homedir": home_directory,
        **({"ldap_user_ssh_public_key": directory.ssh_public_key_attribute} if directory.ssh_public_key_attribute else {}),
    }


def _access(directory: Directory) -> dict[str, str]:
    """Return who may log in; Active Directory's disabled and expired accounts may not, whatever the login method."""
    order, more = [], {}
    if directory.access_filter:
        order, more = ["filter"], {"ldap_access_filter": directory.access_filter}
    if directory.type == ACTIVE_DIRECTORY:
        order, more = [*order, "expire"], {**more, "ldap_account_expire_policy": "ad"}
    if order:
        return {"access_provider": "ldap", "ldap_access_order": ", ".join(order), **more}
    if directory.allowed_groups:
        return {"access_provider": "simple", "simple_allow_groups": ", ".join(directory.allowed_groups)}
    return {"access_provider": "permit"}
