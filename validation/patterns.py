"""What the fields' patterns ask for, in words, and what a value that one of them refuses may have meant."""

import re
from collections.abc import Callable
from dataclasses import dataclass


def _unchanged(value: str) -> str:
    return value


def _hyphenated(value: str) -> str:
    return re.sub("[^a-zA-Z0-9]+", "-", value).strip("-")


def _account_name(value: str) -> str:
    return re.sub("[^a-z0-9_-]+", "_", value.strip().lower())


def _account(value: str) -> str:
    """The account's number without hyphens, and with the zero that numbers lose at their beginning."""
    return re.sub("[- ]", "", value).zfill(12 if len(value) == 11 else 0)


def _region(value: str) -> str:
    """The region of a zone's name: ``us-west-2`` of ``us-west-2a``."""
    return re.sub(r"(?<=[0-9])[a-z]$", "", _hyphenated(value.partition("#")[0]).lower())


def _instance_type(value: str) -> str:
    return f"ml.{value.lower().removeprefix('ml.')}"


def _directory(value: str) -> str:
    return f"/{value.strip('/')}"


def _bucket(value: str) -> str:
    """The bucket of an address or an ARN, in the letters that buckets have."""
    name = value.removeprefix("s3://").removeprefix("arn:aws:s3:::").partition("/")[0]
    return name.lower().replace("_", "-")


def _host(value: str) -> str:
    """The host of an address with a scheme, a port or a path; an ARN has none."""
    return value if value.startswith("arn:") else re.sub("[:/].*", "", value.rpartition("//")[2])


def _file_name(value: str) -> str:
    return value.rpartition("/")[2]


@dataclass(frozen=True)
class Form:
    """What a pattern asks for: in words, how to make it of a value that is nearly so, and else what to write."""

    words: str
    repair: Callable[[str], str] = _unchanged
    remedy: str = ""


def _id_of(what: str, command: str) -> Form:
    def repair(value: str) -> str:
        """The id in a value that holds one: an ARN, a DNS name."""
        found = re.search(f"(?<![a-z]){what}[0-9a-f]{{8,17}}(?![0-9a-z])", value.lower())
        return found[0] if found else value

    words = f"must be {what}, then 8 to 17 digits from 0 to 9 and a to f"
    return Form(words, repair, f"write the id, as `aws {command}` shows it")


def _name_like(example: str) -> str:
    return f"write a name like {example}"


FORMS = {
    "^[a-z][a-z0-9-]{1,30}$": Form("must have 2 to 31 lower-case letters, digits and hyphens, and begin with a letter"),
    "^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$": Form(
        "must have letters, digits and hyphens alone, at most 63, with no hyphen at either end",
        _hyphenated,
        _name_like("worker-group-1"),
    ),
    r"^[a-z]{2,4}(-[a-z]+)+-[0-9]$": Form("must be a region's name, like us-west-2", _region, "write its code, not its place"),
    r"^[0-9]{12}$": Form("must have 12 digits", _account, "`aws sts get-caller-identity` shows yours; write it in quotes"),
    r"^ml\.[a-z0-9-]+\.[a-z0-9-]+$": Form(
        "must be an instance type as SageMaker spells it, like ml.c5.xlarge",
        _instance_type,
        "write its family and its size, e.g. ml.p5.48xlarge",
    ),
    r"^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$": Form(
        "must have letters, digits, dots, hyphens and underscores alone, at most 63, and begin with a letter or digit",
        _hyphenated,
        _name_like("dev"),
    ),
    r"^[a-z]+(-[a-z]+)?[0-9]+(-[a-z]+[0-9]+)*-az[0-9]+$": Form(
        "must be the id of an availability zone, like usw2-az4", str.lower
    ),
    r"^vpc-[0-9a-f]{8,17}$": _id_of("vpc-", "ec2 describe-vpcs"),
    r"^subnet-[0-9a-f]{8,17}$": _id_of("subnet-", "ec2 describe-subnets"),
    r"^sg-[0-9a-f]{8,17}$": _id_of("sg-", "ec2 describe-security-groups"),
    r"^fs-[0-9a-f]{8,17}$": _id_of("fs-", "fsx describe-file-systems"),
    r"^[A-Za-z0-9_-]{1,8}$": Form(
        "must have 1 to 8 letters, digits, hyphens and underscores",
        lambda value: value.strip("/"),
        "write LustreConfiguration.MountName, as `aws fsx describe-file-systems` shows it",
    ),
    r"^[a-z0-9]+(\.[a-z0-9]+|-+[a-z0-9]+)*$": Form(
        "must have lower-case letters, digits, hyphens and dots alone, with neither of the last two at an end or beside a dot",
        _bucket,
        "write the bucket's name alone, as `aws s3 ls` shows it",
    ),
    r"^/([^/\r\n]+(/[^/\r\n]+)*)?$": Form(
        "must begin with a slash and not end with one, with no two of them beside each other",
        _directory,
        "write it like /data",
    ),
    r"^([^/](.*[^/])?)?$": Form("must not begin or end with a slash", lambda value: value.strip("/"), "write it like sets/2026"),
    "^[a-z_][a-z0-9_-]{0,31}$": Form(
        "must have lower-case letters, digits, underscores and hyphens alone, at most 32, and begin with a letter or underscore",
        _account_name,
        _name_like("alice"),
    ),
    r"^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-(ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com) "
    r"[A-Za-z0-9+/]{40,}={0,2}( [^\r\n]*)?$": Form(
        "must be the line of a public key (a .pub file), like ssh-ed25519 AAAA... name; never a private key",
        str.strip,
        "copy the whole line of the .pub file, of a kind that sshd takes (ed25519, RSA or ECDSA)",
    ),
    r"^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$": Form(
        "must be the name or the address of a host, without a port", _host, "write it like slurm.example.com"
    ),
    r"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[a-zA-Z0-9/_+=.@!-]+-[a-zA-Z0-9]{6}$": Form(
        "must be a secret's whole ARN, with the six characters that Secrets Manager adds to its name",
        remedy="copy it from `aws secretsmanager list-secrets`",
    ),
    r"^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}$": Form(
        "must be an SNS topic's ARN (not a FIFO topic's)", remedy="copy it from `aws sns list-topics`"
    ),
    r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[a-zA-Z0-9-]+$": Form(
        "must be a KMS key's ARN (no alias)", remedy="copy it from `aws kms list-keys`"
    ),
    r"^(/[a-zA-Z0-9_-][a-zA-Z0-9._-]*)+$": Form(
        "must begin with a slash and not end with one, with no . or .. in it and no blanks",
        _directory,
        "write it like /fsx/slurm",
    ),
    r"^[a-zA-Z0-9_-][a-zA-Z0-9._-]*$": Form(
        "must be a file's name, with letters, digits, dots, hyphens and underscores alone",
        _file_name,
        "write it like on_create.sh",
    ),
    r"^fs-[0-9a-f]{8,17}\.fsx\.[a-z0-9-]+(\.[a-z0-9-]+)+$": Form(
        "must be the file system's DNS name, like fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
        lambda value: value.lower().partition(":")[0],
        "write DNSName, as `aws fsx describe-file-systems` shows it",
    ),
    r"^2\.(10|12|15)$": Form('must be "2.10", "2.12" or "2.15"', lambda value: re.sub("[^0-9.]", "", value), 'use "2.15"'),
}


def written(pattern: str) -> str | None:
    """What to write where nobody can tell what was meant."""
    form = FORMS.get(pattern)
    return form.remedy if form and form.remedy else None


def in_words(pattern: str) -> str:
    """What the pattern asks for; the pattern itself where nobody wrote that down."""
    form = FORMS.get(pattern)
    return form.words if form else f"must match {pattern}"


def repaired(value: str, pattern: str) -> str | None:
    """The value of this pattern that ``value`` is nearly, if there is one."""
    form = FORMS.get(pattern)
    better = form.repair(value.strip()) if form else value
    return better if re.fullmatch(pattern, better) else None
