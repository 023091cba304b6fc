"""node_settings.json as a deployment writes it, in the smallest form that a node accepts."""

from copy import deepcopy
from typing import Any

Json = dict[str, Any]
P5_TYPE: Json = {"ml.p5.48xlarge": {"sockets": 2, "cores_per_socket": 48, "gpus": 8, "gpu": "h100", "efa": True}}
LOCAL_DATABASE: Json = {"database": "local", "host": None, "port": 3306, "secret_arn": None}


def node_settings(**changes: object) -> Json:
    """Return the smallest settings with some sections replaced."""
    smallest = {
        "version": 1,
        "groups": [],
        "users": [],
        "homes": "/fsx/home",
        "accounting": LOCAL_DATABASE | {"database": "none"},
        "slurm": slurm(),
        "instance_types": {},
        "message_of_the_day": None,
        "directory": None,
    }
    return deepcopy(smallest | changes)


def user(name: str, uid: int, **changes: object) -> Json:
    """Return a user of the cluster file."""
    return {"name": name, "uid": uid, "groups": [], "ssh_public_keys": [], "sudo": False} | changes


def slurm(**changes: object) -> Json:
    """Return the section `slurm` of the settings."""
    smallest: Json = {
        "setup": "scripts",
        "state_folder": None,
        "prolog_and_epilog": True,
        "restrict_ssh": False,
        "topology": None,
        "settings": {},
        "partitions": [],
    }
    return smallest | changes


def directory(**changes: object) -> Json:
    """Return the section `directory` of the settings."""
    smallest: Json = {
        "type": "ldap",
        "uris": ["ldaps://ldap.example.com"],
        "search_base": "dc=example,dc=com",
        "bind_dn": "cn=sssd,dc=example,dc=com",
        "secret_arn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:directory-AbCdEf",
        "ca_certificates": None,
        "access_filter": None,
        "allowed_groups": [],
        "sudo_groups": [],
        "home_directory": None,
        "shell": "/bin/bash",
        "ssh_public_key_attribute": "sshPublicKey",
        "ssh_passwords": False,
        "id_mapping": False,
        "min_id": 1001,
        "max_id": None,
        "options": {},
    }
    return smallest | changes
