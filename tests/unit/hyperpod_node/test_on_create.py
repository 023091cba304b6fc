"""The script that HyperPod starts, on a node with another Python."""

import os
import shutil
import subprocess
from pathlib import Path

ON_CREATE = Path(__file__).parents[3] / "lifecycle_assets" / "on_create.sh"


def test_an_image_with_an_old_python_gives_one_sentence(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\n[ $1 = --version ] && echo Python 3.8.10 || exit 1\n")
    python.chmod(0o755)
    (tmp_path / "log").mkdir()
    script = tmp_path / "on_create.sh"
    shutil.copy(ON_CREATE, script)
    script.write_text(script.read_text().replace("/var/log/provision", str(tmp_path / "log")))
    environment = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", script], env=environment, capture_output=True, text=True, check=False)
    said = (
        "lifecycle script failed: these scripts require Python 3.10 or later, found: Python 3.8.10; "
        "use an image with Ubuntu 22.04 or later\n"
    )
    assert (done.returncode, done.stdout, (tmp_path / "log" / "provisioning.log").read_text()) == (1, said, said)
