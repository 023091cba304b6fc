"""Describe the formats of fields, and correct near misses."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from cluster_request.request_forms import hyphenated, unchanged
from config.eks import ADDON_VERSION, EKS_NAME, KUBERNETES_VERSION, PRINCIPAL_ARN
from config.instance_group import LABEL_KEY, LABEL_VALUE
from config.teams import ROLE_ARN, TEAM_NAME


def _account_name(value: str) -> str:
    return re.sub("[^a-z0-9_-]+", "_", value.strip().lower())


def _account(value: str) -> str:
    """Return the account id without hyphens, and with a lost leading zero."""
    return re.sub("[- ]", "", value).zfill(12 if len(value) == 11 else 0)


def _region(value: str) -> str:
    """Return the region of a zone name: ``us-west-2`` for ``us-west-2a``."""
    return re.sub(r"(?<=[0-9])[a-z]$", "", hyphenated(value.partition("#")[0]).lower())


def _instance_type(value: str) -> str:
    return f"ml.{value.lower().removeprefix('ml.')}"


def _directory(value: str) -> str:
    return f"/{value.strip('/')}"


def _bucket(value: str) -> str:
    """Return the bucket of an S3 URI or ARN, in valid characters."""
    name = value.removeprefix("s3://").removeprefix("arn:aws:s3:::").partition("/")[0]
    return name.lower().replace("_", "-")


def _host(value: str) -> str:
    """Return the host without scheme, port and path; an ARN is returned unchanged."""
    return value if value.startswith("arn:") else re.sub("[:/].*", "", value.rpartition("//")[2])


def _file_name(value: str) -> str:
    return value.rpartition("/")[2]


def _slurm_time(value: str) -> str:
    """Return the time for a number with the unit hours or days."""
    text = value.upper().replace(" ", "")
    if found := re.fullmatch(r"([0-9]{1,4})(H|HOURS?|D|DAYS?)", text):
        return f"{found[1]}:00:00" if found[2].startswith("H") else f"{found[1]}-00:00:00"
    return text


def _label(value: str) -> str:
    """Return the text with hyphens instead of characters that a label cannot have."""
    return re.sub("[^A-Za-z0-9_.-]+", "-", value).strip("-_.")


def _role_of_session(value: str) -> str:
    """Return the ARN of a session's role, if the role has no path; those of IAM Identity Center have one."""
    return re.sub(r"^(arn:[^:]+):sts::([0-9]+):assumed-role/(?!AWSReservedSSO_)([^/]+)/.*$", r"\1:iam::\2:role/\3", value)


@dataclass(frozen=True)
class Form:
    """A format in words, a function that corrects near misses, and otherwise a fix."""

    words: str
    correct: Callable[[str], str] = unchanged
    fix: str = ""


def _id_of(what: str, command: str) -> Form:
    def correct(value: str) -> str:
        """Return the id in a longer value, such as an ARN or a DNS name."""
        found = re.search(f"(?<![a-z]){what}[0-9a-f]{{8,17}}(?![0-9a-z])", value.lower())
        return found[0] if found else value

    words = f"must be {what} and 8 to 17 hexadecimal digits"
    return Form(words, correct, f"use an id from `aws {command}`")


def _name_like(example: str) -> str:
    return f"use a name like {example}"


FORMS = {
    r"^[^@\s,;<>]+@[^@\s,;<>]+\.[^@\s.,;<>]+$": Form("must be an e-mail address", fix="list each address, like ops@example.com"),
    "^[0-9A-Z]{1,255}$": Form(
        "must be capital letters and digits",
        lambda value: value.upper(),
        "use the ID in the link of the workspace, like T0123ABCD",
    ),
    "^[A-Za-z0-9]{1,255}$": Form("must be letters and digits", fix="use the ID in the details of the channel, like C0123ABCD"),
    r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$": Form(
        "must be a UUID in lower case", lambda value: value.lower(), "use the ID in the link of the team"
    ),
    r"^\S{1,255}$": Form("must have no spaces", fix="use the ID in the link of the channel"),
    "^/fsx(/[a-zA-Z0-9_-][a-zA-Z0-9._-]*)*$": Form("must be /fsx or a folder in it", _directory, "use /fsx/home or /fsx"),
    "^[a-zA-Z0-9$_]+$": Form("must be letters, digits, $ or _", lambda value: re.sub("[^a-zA-Z0-9$_]+", "_", value)),
    "^[A-Za-z0-9]+$": Form("must be letters and digits", lambda value: re.sub("[^A-Za-z0-9]+", "", value)),
    r"^arn:aws[a-z-]*:iam::(aws|[0-9]{12}):policy/[A-Za-z0-9+=,.@_/-]+$": Form(
        "must be the ARN of a managed policy", fix="use an ARN from `aws iam list-policies`"
    ),
    r"^(\*|[A-Za-z0-9-]+:[A-Za-z0-9*?]+)$": Form("must be an IAM action", fix="use e.g. s3:GetObject"),
    r"^(\*|arn:[^:]+:[^:]+:[^:]*:[^:]*:.+)$": Form("must be an ARN or *", fix="use e.g. arn:aws:s3:::our-datasets/*"),
    "^[a-z][a-z0-9-]{1,30}$": Form("must be 2-31 lower-case letters, digits or hyphens, and start with a letter"),
    "^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$": Form(
        "must be 1-63 letters, digits or hyphens, and start and end with a letter or digit",
        hyphenated,
        _name_like("worker-group-1"),
    ),
    r"^[a-z]{2,4}(-[a-z]+)+-[0-9]$": Form("must be a region name like us-west-2", _region, "use the region's code"),
    r"^[0-9]{12}$": Form("must be 12 digits", _account, "use the account from `aws sts get-caller-identity`, in quotes"),
    r"^ml\.[a-z0-9-]+\.[a-z0-9-]+$": Form(
        "must be a SageMaker instance type like ml.c5.xlarge",
        _instance_type,
        "use family and size, e.g. ml.p5.48xlarge",
    ),
    r"^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$": Form(
        "must be 1-63 letters, digits, dots, hyphens or underscores, and start with a letter or digit",
        hyphenated,
        _name_like("dev"),
    ),
    r"^[a-z]+(-[a-z]+)?[0-9]+(-[a-z]+[0-9]+)*-az[0-9]+$": Form("must be an availability zone id like usw2-az4", str.lower),
    r"^vpc-[0-9a-f]{8,17}$": _id_of("vpc-", "ec2 describe-vpcs"),
    r"^subnet-[0-9a-f]{8,17}$": _id_of("subnet-", "ec2 describe-subnets"),
    r"^sg-[0-9a-f]{8,17}$": _id_of("sg-", "ec2 describe-security-groups"),
    r"^fs-[0-9a-f]{8,17}$": _id_of("fs-", "fsx describe-file-systems"),
    r"^[A-Za-z0-9_-]{1,8}$": Form(
        "must be 1-8 letters, digits, hyphens or underscores",
        lambda value: value.strip("/"),
        "use LustreConfiguration.MountName from `aws fsx describe-file-systems`",
    ),
    r"^[a-z0-9]+(\.[a-z0-9]+|-+[a-z0-9]+)*$": Form(
        "must be lower-case letters, digits, hyphens or dots, start and end with a letter or digit, with no `..`, `.-` or `-.`",
        _bucket,
        "use only the bucket name, as in `aws s3 ls`",
    ),
    r"^/([^/\r\n]+(/[^/\r\n]+)*)?$": Form(
        "must start with a slash, not end with one, and have no double slash",
        _directory,
        "use a path like /data",
    ),
    r"^([^/](.*[^/])?)?$": Form(
        "must not start or end with a slash", lambda value: value.strip("/"), "use a prefix like sets/2026"
    ),
    "^[a-z_][a-z0-9_-]{0,31}$": Form(
        "must be 1-32 lower-case letters, digits, underscores or hyphens, and start with a letter or underscore",
        _account_name,
        _name_like("alice"),
    ),
    r"^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-(ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com) "
    r"[A-Za-z0-9+/]{40,}={0,2}( [^\r\n]*)?$": Form(
        "must be a line of a public key file (.pub), like ssh-ed25519 AAAA... name; never a private key",
        str.strip,
        "copy the whole line of an ed25519, RSA or ECDSA .pub file",
    ),
    r"^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$": Form(
        "must be a host name or address without a port", _host, "use a name like slurm.example.com"
    ),
    r"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[a-zA-Z0-9/_+=.@!-]+-[a-zA-Z0-9]{6}$": Form(
        "must be the full ARN of a secret, with the six random characters at its end",
        fix="use an ARN from `aws secretsmanager list-secrets`",
    ),
    r"^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}$": Form(
        "must be the ARN of a standard SNS topic", fix="use an ARN from `aws sns list-topics`"
    ),
    r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[a-zA-Z0-9-]+$": Form(
        "must be the ARN of a KMS key, not an alias", fix="use an ARN from `aws kms list-keys`"
    ),
    r"^(/[a-zA-Z0-9_-][a-zA-Z0-9._-]*)+$": Form(
        "must start with a slash, not end with one, and not contain . or .. or spaces",
        _directory,
        "use a path like /fsx/slurm",
    ),
    r"^[a-zA-Z0-9_-][a-zA-Z0-9._-]*$": Form(
        "must be a file name of letters, digits, dots, hyphens or underscores",
        _file_name,
        "use a name like on_create.sh",
    ),
    r"^[!$-\[\]-~]([ !$-\[\]-~]*[!$-\[\]-~])?$": Form(
        'must be one line of printable ASCII characters without ", # or a backslash',
        lambda value: value.partition("#")[0].strip(' "'),
        "use a value like bf_continue",
    ),
    r"^([0-9]{1,7}(:[0-5][0-9]){0,2}|[0-9]{1,4}-([01]?[0-9]|2[0-3])(:[0-5][0-9]){0,2}|UNLIMITED|INFINITE)$": Form(
        "must be a time of Slurm: minutes, hours:minutes:seconds, days-hours:minutes:seconds or UNLIMITED",
        _slurm_time,
        "use e.g. 1-00:00:00",
    ),
    r"^fs-[0-9a-f]{8,17}\.fsx\.[a-z0-9-]+(\.[a-z0-9-]+)+$": Form(
        "must be a DNS name like fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
        lambda value: value.lower().partition(":")[0],
        "use DNSName from `aws fsx describe-file-systems`",
    ),
    r"^2\.(10|12|15)$": Form('must be "2.10", "2.12" or "2.15"', lambda value: re.sub("[^0-9.]", "", value), 'use "2.15"'),
    r"^ldaps?://[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]{1,5})?$": Form(
        "must be ldaps://HOST or ldap://HOST, with an optional port", str.strip, "use a URI like ldaps://ldap.example.com"
    ),
    r"^[a-zA-Z][a-zA-Z0-9.-]* ?=[^\r\n=]+(,? ?[a-zA-Z][a-zA-Z0-9.-]* ?=[^\r\n=]+)*$": Form(
        "must be a distinguished name", str.strip, "use a name like dc=example,dc=com"
    ),
    r"^[a-zA-Z0-9_]([a-zA-Z0-9_. -]*[a-zA-Z0-9_.-])?$": Form(
        "must be a group name of letters, digits, underscores, dots, hyphens or spaces",
        str.strip,
        "use the group's name, not its DN",
    ),
    r"^\S([^\r\n]*\S)?$": Form("must be one line without spaces at its ends", str.strip),
    r"^(/[a-zA-Z0-9_-][a-zA-Z0-9._-]*)*/%u$": Form(
        "must be a path that ends in /%u", lambda value: _directory(value) + "/%u", "use a path like /fsx/home/%u"
    ),
    r"^[a-zA-Z][a-zA-Z0-9-]*$": Form("must be the name of an LDAP attribute", str.strip, "use a name like sshPublicKey"),
    LABEL_KEY: Form(
        "must be a Kubernetes label key: an optional DNS name and a slash, and a name of 1-63 letters, digits, - _ or .",
        fix="use a key like pool or example.com/pool",
    ),
    LABEL_VALUE: Form(
        "must be 1-63 letters, digits, hyphens, underscores or dots, and start and end with a letter or digit",
        _label,
        _name_like("training"),
    ),
    EKS_NAME: Form(
        "must be 1-100 letters, digits, hyphens or underscores, and start with a letter or digit",
        lambda value: value.rpartition("/")[2],
        "use a name from `aws eks list-clusters`",
    ),
    KUBERNETES_VERSION: Form(
        "must be a Kubernetes version with major and minor number",
        lambda value: ".".join(value.lower().removeprefix("v").split(".")[:2]),
        'use e.g. "1.35"',
    ),
    ADDON_VERSION: Form(
        "must be the version of an EKS add-on like v1.20.4-eksbuild.2",
        lambda value: f"v{value.removeprefix('v')}",
        "use a version from `aws eks describe-addon-versions`",
    ),
    PRINCIPAL_ARN: Form(
        "must be the ARN of an IAM role or user, not of a session or an account",
        _role_of_session,
        "use e.g. arn:aws:iam::123456789012:role/PlatformAdmin; `aws iam get-role --role-name NAME --query Role.Arn` prints it",
    ),
    ROLE_ARN: Form(
        "must be the ARN of an IAM role, not of a session or an account",
        _role_of_session,
        "use e.g. arn:aws:iam::123456789012:role/Researchers; `aws iam get-role --role-name NAME --query Role.Arn` prints it",
    ),
    TEAM_NAME: Form(
        "must be 1-40 lower-case letters, digits or hyphens, and start and end with a letter or digit",
        lambda value: hyphenated(value).lower(),
        _name_like("research"),
    ),
}


def fallback_fix(pattern: str) -> str | None:
    """Return the fix for a value that cannot be corrected."""
    form = FORMS.get(pattern)
    return form.fix if form and form.fix else None


def in_words(pattern: str) -> str:
    """Describe the pattern, or return it if it has no description."""
    form = FORMS.get(pattern)
    return form.words if form else f"must match {pattern}"


def corrected(value: str, pattern: str) -> str | None:
    """Return the corrected value, or None if it still does not match."""
    form = FORMS.get(pattern)
    better = form.correct(value.strip()) if form else value
    return better if re.fullmatch(pattern, better) else None
