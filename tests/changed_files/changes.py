"""Change a cluster file's text at random: gently, so that it may stay valid, or roughly."""

import re
from collections.abc import Callable
from random import Random

from tests.changed_files.values import FITTING, ODD, fitting, override, place

Lines = list[str]
Change = Callable[[Random, Lines], None]

FIELD = re.compile(r"^(\s*(?:- )?)(\w+):(?: (.*))?$")
SMALL = (
    "",
    ":",
    "- ",
    "\t",
    "\n",
    "[",
    "]",
    "{",
    "}",
    "&a ",
    "*a",
    "!!int ",
    "? ",
    "'",
    '"',
    "|\n",
    "---\n",
    "# ",
    "\u00a0",
    "é",
    "9",
)
OF_A_GROUP = (
    *("threads_per_core", "partition", "volume_gib", "deep_health_checks", "capacity", "min_instance_count", "volume_key_arn"),
    *("training_plan_arn", "execution_role", "labels", "taints"),
)
OF_SLURM = (
    "accounting",
    "partitions",
    "settings",
    "state_folder",
    "restrict_ssh",
    "prolog_and_epilog",
    "metadata_access",
    "controller_role",
)
OF_EKS = (
    *("admins", "teams", "addons", "scheduling", "autoscaling", "public_access_cidrs", "endpoint_access", "logs"),
    *("control_plane_cidrs", "control_plane_zone_ids", "log_retention_days", "secrets_key_arn"),
)
OF_A_NETWORK = ("vpc_cidr", "node_cidr", "public_subnet_cidr", "flow_logs_retention_days")
OF_AN_ASSOCIATION = ("bucket", "prefix", "imported_file_chunk_size_mib", "auto_import", "auto_export")
FILE_SYSTEM_ADDRESSES = ("removal", "compression", "version", "deployment_type")
OF_THE_FILE = (
    *("wait", "wait_hours", "node_recovery", "cluster_name", "trust_source_account", "recreate", "account"),
    *("alarm_topic_arn", "tags", "removal", "provisioning", "monitoring"),
)


def changed(random: Random, text: str) -> str:
    """Return the text with some changes, in half of all cases only gentle ones."""
    lines = text.splitlines()
    for _ in range(random.randint(1, 4)):
        random.choice(GENTLE)(random, lines)
    if random.random() < 0.5:
        for _ in range(random.randint(1, 3)):
            random.choice(ROUGH)(random, lines)
    return "\n".join(lines) + "\n"


def _some_line(random: Random, lines: Lines, pattern: str) -> int | None:
    found = [number for number, line in enumerate(lines) if re.match(pattern, line)]
    return random.choice(found) if found else None


def _add(random: Random, lines: Lines, pattern: str, fields: tuple[str, ...]) -> None:
    """Insert one of the fields below a line that matches the pattern, in its section."""
    number, field = _some_line(random, lines, pattern), random.choice(fields)
    if number is not None:
        indent = len(re.match(r"[ -]*", lines[number])[0])  # type: ignore[index]  # it matches anything
        lines.insert(number + 1, f"{' ' * indent}{field}: {fitting(random, field)}")


def _another_value(random: Random, lines: Lines) -> None:
    number = _some_line(random, lines, rf"\s*(- )?({'|'.join(FITTING)}): ")
    if number is not None and (found := FIELD.match(lines[number])):
        lines[number] = f"{found[1]}{found[2]}: {fitting(random, found[2])}"


def _another_place(random: Random, lines: Lines) -> None:
    region, zone = place(random)
    for number, line in enumerate(lines):
        lines[number] = re.sub(r"^(\s*availability_zone_id:).*", rf"\1 {zone}", re.sub(r"^region:.*", f"region: {region}", line))


def _field_of_a_group(random: Random, lines: Lines) -> None:
    _add(random, lines, r"    (role|instance_type): ", OF_A_GROUP)


def _field_of_slurm(random: Random, lines: Lines) -> None:
    _add(random, lines, r"  setup: ", OF_SLURM)


def _field_of_eks(random: Random, lines: Lines) -> None:
    _add(random, lines, r"  version: |  existing:$", OF_EKS)


def _setup_of_slurm(random: Random, lines: Lines) -> None:
    """Let HyperPod configure Slurm, often with continuous provisioning."""
    number = _some_line(random, lines, r"  setup: ")
    if number is not None:
        lines[number] = "  setup: api"
        lines += ["provisioning: continuous"] * random.randint(0, 1)


def _field_of_the_network(random: Random, lines: Lines) -> None:
    _add(random, lines, r"  availability_zone_id: ", OF_A_NETWORK)


def _field_of_an_association(random: Random, lines: Lines) -> None:
    _add(random, lines, r"    - path: ", OF_AN_ASSOCIATION)


def _field_of_a_file_system(random: Random, lines: Lines) -> None:
    _add(random, lines, r"    storage_capacity_gib: ", FILE_SYSTEM_ADDRESSES)


def _field_of_the_file(random: Random, lines: Lines) -> None:
    field = random.choice(OF_THE_FILE)
    lines.append(f"{field}: {fitting(random, field)}")


def _override_of_the_cluster(random: Random, lines: Lines) -> None:
    lines.append(f"overrides: {override(random, of_a_group=False)}")


def _override_of_a_group(random: Random, lines: Lines) -> None:
    number = _some_line(random, lines, r"    role: ")
    if number is not None:
        lines.insert(number + 1, f"    overrides: {override(random, of_a_group=True)}")


def _another_group(random: Random, lines: Lines) -> None:
    number = _some_line(random, lines, "instance_groups:$")
    if number is not None:
        kind = fitting(random, "instance_type")
        lines.insert(
            number + 1,
            f"  - {{name: more-{random.randrange(100)}, role: compute, partition: {fitting(random, 'partition')}, "
            f"instance_type: {kind}, instance_count: {fitting(random, 'instance_count')}}}",
        )


def _another_user(random: Random, lines: Lines) -> None:
    user = f"  - {{name: user-{random.randrange(100)}, uid: {random.randint(10000, 60000)}}}"
    number = _some_line(random, lines, "users:$")
    if number is None:
        lines += ["users:", user]
    else:
        lines.insert(number + 1, user)


def _odd_value(random: Random, lines: Lines) -> None:
    number = _some_line(random, lines, r"\s*(- )?\w+:")
    if number is not None and (found := FIELD.match(lines[number])):
        lines[number] = f"{found[1]}{found[2]}: {random.choice(ODD)}"


def _odd_field(random: Random, lines: Lines) -> None:
    number = _some_line(random, lines, r"\s*(- )?\w+:")
    if number is not None:
        indent = " " * len(re.match(r"[ -]*", lines[number])[0])  # type: ignore[index]  # it matches anything
        field = random.choice(["name", "overrides", "tags", "partition", "existing", "zzz", "lustre", "1", "?", *FITTING])
        lines.insert(number + random.randint(0, 1), f"{indent}{field}: {random.choice(ODD)}")


def _lost_line(random: Random, lines: Lines) -> None:
    if lines:
        del lines[random.randrange(len(lines))]


def _doubled_lines(random: Random, lines: Lines) -> None:
    start = random.randint(0, len(lines))
    part = lines[start : start + random.randint(1, 5)]
    lines[start:start] = part


def _moved_line(random: Random, lines: Lines) -> None:
    if lines:
        line = lines.pop(random.randrange(len(lines)))
        lines.insert(random.randint(0, len(lines)), line)


def _other_indentation(random: Random, lines: Lines) -> None:
    if lines:
        number = random.randrange(len(lines))
        lines[number] = random.choice(["", " ", "  ", "   ", "    ", "\t", "- "]) + lines[number].lstrip(
            random.choice([" ", " -"])
        )


def _swapped_letters(random: Random, lines: Lines) -> None:
    if lines:
        number = random.randrange(len(lines))
        line, at = lines[number], random.randint(0, len(lines[number]))
        lines[number] = line[:at] + line[at + 1 : at + 2] + line[at : at + 1] + line[at + 2 :]


def _cut_or_put_in(random: Random, lines: Lines) -> None:
    text = "\n".join(lines)
    start = random.randint(0, len(text))
    lines[:] = (text[:start] + random.choice(SMALL) + text[start + random.randint(0, 12) :]).split("\n")


GENTLE: tuple[Change, ...] = (
    *(_another_value, _another_value, _another_value, _another_place, _field_of_a_group, _field_of_the_network),
    *(_field_of_an_association, _field_of_a_file_system, _field_of_the_file, _override_of_the_cluster, _override_of_a_group),
    *(_another_group, _another_user, _field_of_slurm, _setup_of_slurm, _field_of_eks),
)
ROUGH: tuple[Change, ...] = (
    *(_odd_value, _odd_value, _odd_field, _lost_line, _doubled_lines, _moved_line, _other_indentation, _swapped_letters),
    _cut_or_put_in,
)
