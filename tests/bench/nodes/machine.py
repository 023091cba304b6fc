"""On what and when something was measured, in a line."""

import os
from datetime import UTC, datetime
from pathlib import Path

from local_aws.nodes import support


def machine() -> str:
    """The machine, its load, the image of the nodes and the day."""
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    memory = int(fields["MemTotal"].split()[0]) / 2**20
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} x {_processor()}, {memory:.0f} GiB, Linux {os.uname().release}, "
        f"load {os.getloadavg()[2]:.1f}, image {support.image().name}"
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return os.uname().machine
