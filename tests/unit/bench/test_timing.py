import subprocess
import sys
from pathlib import Path

from tests.bench.timing import cpu_seconds

BUSY = "import time\nwhile time.process_time() < 0.4: pass"


def taken(program: str) -> float:
    return cpu_seconds([sys.executable, "-S", "-c", program], Path.cwd(), {})


def test_the_time_of_child_processes_counts() -> None:
    assert taken(f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {BUSY!r}], check=True)") >= 0.4


def test_time_of_others_and_waiting_does_not_count() -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", BUSY]) as other:
        waiting = taken("import time; time.sleep(1)")
        other.wait()
    assert waiting < 0.4
