"""What the check of an sbatch script finds, line by line."""

from pathlib import Path

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck import command_line, sbatch_script, script_rules
from hyperpod_node.precheck.sbatch_script import SbatchScript
from hyperpod_node.precheck.slurm_cluster import SlurmCluster, mpi_types_of, partitions_of

from .conftest import Programs, captured

EXAMPLES = Path(__file__).parents[4] / "examples" / "jobs"
PLAIN = SlurmCluster({"dev": 4, "gpu": 2}, False, frozenset({"none", "pmix", "pmi2"}), captured("srun-help.txt"))
HYPERPOD = SlurmCluster({"dev": 4}, True, frozenset({"none"}), PLAIN.srun_help + "--auto-resume=  --container-image= ")


def problems(text: str, cluster: SlurmCluster = PLAIN) -> list[tuple[int, str, str]]:
    return [(f.line, f.level, f.message) for f in script_rules.check(SbatchScript(text), cluster)]


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.sbatch")), ids=lambda path: path.name)
@pytest.mark.parametrize("cluster", [PLAIN, HYPERPOD], ids=["plain", "hyperpod"])
def test_the_examples_have_no_error(path: Path, cluster: SlurmCluster) -> None:
    found = script_rules.check(sbatch_script.read(path), cluster)
    assert not [problem for problem in found if problem.level == sbatch_script.ERROR]


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.sbatch")), ids=lambda path: path.name)
def test_the_examples_have_not_even_a_warning(path: Path) -> None:
    assert problems(path.read_text()) == []


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("echo hello\n", 1, "does not start with #!"),
        ("#!/bin/bash\r\necho\r\n", 1, "Windows line endings"),
        ("#!/bin/bash\necho\n#SBATCH --nodes=2\n", 3, "after the first command (line 2)"),
        ("#!/bin/bash\n#SBATCH --output=/tmp/x.log\n", 2, "--output=/tmp/x.log is on the node's own disk"),
        ("#!/bin/bash\n#SBATCH -o /var/x.log\n", 2, "--output=/var/x.log"),
        ("#!/bin/bash\n#SBATCH --partition=big\n", 2, "unknown partition 'big'"),
        ("#!/bin/bash\n#SBATCH -p dev,big\n", 2, "unknown partition 'big'"),
        (
            "#!/bin/bash\n#SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH -N8\n",
            4,
            "8 nodes requested, but the largest partition has 4",
        ),
        ("#!/bin/bash\n#SBATCH --nodes=3 --requeue -p gpu --open-mode=append\n", 2, "3 nodes requested, but gpu has 2"),
        ("#!/bin/bash\n#SBATCH --gpus-per-node=8\n", 2, "Slurm does not count"),
        ("#!/bin/bash\n#SBATCH --gres=gpu:8\n", 2, "--gres requests GPUs"),
        ("#!/bin/bash\nsrun -G 8 ./train\n", 2, "--gpus requests GPUs"),
        (
            "#!/bin/bash\nsrun --mpi=openmpi ./train\n",
            2,
            "does not support --mpi=openmpi on this cluster; available: none, pmi2, pmix",
        ),
        ("#!/bin/bash\n\nsrun \\\n  --container-image=x \\\n  ./train\n", 3, "--container-image requires pyxis"),
        ("#!/bin/bash\nmodule load cuda\n", 2, "no `module` command"),
        ("#!/bin/bash\nsudo systemctl restart slurmd\n", 2, "restarting Slurm"),
        ("#!/bin/bash\naws configure set region x\n", 2, "overrides the node's role"),
        ("#!/bin/bash\n#SBATCH --auto-resume=1\n", 2, "an option of srun, not of sbatch"),
        ("#!/bin/bash\nsrun --auto-resume=1 ./train\n", 2, "HyperPod's plugin is not loaded"),
    ],
)
def test_what_sbatch_refuses_or_hyperpod_lacks_is_an_error_with_its_line(text: str, line: int, found: str) -> None:
    errors = [(number, what) for number, level, what in problems(text) if level == "error"]
    assert len(errors) == 1
    assert errors[0][0] == line
    assert found in errors[0][1]


def test_processes_of_several_nodes_that_meet_at_localhost_are_an_error() -> None:
    text = "#!/bin/bash\n#SBATCH --nodes={}\nexport MASTER_ADDR=localhost\nsrun torchrun --rdzv-endpoint=127.0.0.1:1 x\n"
    assert [line for line, level, _ in problems(text.format(2)) if level == "error"] == [3, 4]
    assert problems(text.format(1)) == []


def test_a_job_on_several_nodes_that_nothing_restarts_is_warned_of() -> None:
    assert problems("#!/bin/bash\n#SBATCH --nodes=2\nsrun ./train\n")[0][:2] == (2, "warning")
    assert problems("#!/bin/bash\n#SBATCH --nodes=2\nsrun --auto-resume=1 ./train\n", HYPERPOD) != []
    assert problems("#!/bin/bash\n#SBATCH --nodes=1\nsrun ./train\n") == []


@pytest.mark.parametrize(
    ("time", "minutes"),
    [("30", 30), ("30:30", 30.5), ("01:30:00", 90), ("1-0", 1440), ("1-01:30", 1530), ("2-00:00:30", 2880.5)],
)
def test_time_limits_are_read_as_slurm_reads_them(time: str, minutes: float) -> None:
    assert script_rules.minutes_of(time) == minutes


@pytest.mark.parametrize(("time", "warned"), [("00:10:00", False), ("1-0", True), ("UNLIMITED", True)])
def test_a_short_job_needs_nothing_that_restarts_it(time: str, warned: bool) -> None:
    assert bool(problems(f"#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --time={time}\nsrun ./train\n")) == warned


def test_a_second_start_that_empties_the_log_is_warned_of() -> None:
    assert problems("#!/bin/bash\n#SBATCH --requeue\n")[0][:2] == (2, "warning")


def test_auto_resume_where_slurm_counts_gpus_needs_a_job_that_may_start_again() -> None:
    text = "#!/bin/bash\n#SBATCH --exclusive\n{}srun --auto-resume=1 ./train\n"
    assert [(line, level) for line, level, _ in problems(text.format(""), HYPERPOD)] == [(3, "warning")]
    assert [(line, level) for line, level, _ in problems(text.format("#SBATCH --no-requeue\n"), HYPERPOD)] == [(3, "error")]


def test_comments_and_words_that_only_look_alike_are_no_findings() -> None:
    text = (
        "#!/bin/bash\n##SBATCH --partition=big\n# module load cuda\n#SBATCH --exclusive\n"
        'echo "srunner --mpi=x" # srun --mpi=openmpi\nunmodule load\nsrun --container-id=x ./a --mpi=openmpi\n'
    )
    assert problems(text) == []


def test_a_line_that_no_shell_can_parse_is_read_as_far_as_possible() -> None:
    assert problems("#!/bin/bash\nsrun --mpi=openmpi bash -c '\necho\n'\n")[0][0] == 2


def test_slurm_is_asked_for_what_it_has() -> None:
    programs = Programs(
        {
            "srun --mpi=list": captured("srun-mpi-list.txt"),
            "sinfo --noheader --format=%R %D": captured("sinfo-partitions.txt"),
            "sinfo --noheader --format=%G": captured("sinfo-gres.txt"),
            "srun --help": captured("srun-help.txt"),
        }
    )
    cluster = SlurmCluster.ask(programs)
    assert (cluster.partitions, cluster.counts_gpus) == ({"dev": 4, "gpu": 4}, False)
    assert cluster.mpi_types == {"none", "pmix", "cray_shasta", "pmi2", "pmix_v5"}
    assert cluster.knows("container-id")
    assert not cluster.knows("auto-resume")


def test_a_partition_whose_nodes_differ_in_state_is_counted_whole() -> None:
    assert partitions_of("dev 3\ndev 1\n") == {"dev": 4}


def test_mpi_types_are_separated_from_the_text_around_them() -> None:
    assert mpi_types_of("MPI plugin types are...\n\tnone\n\tpmi2\n") == ["none", "pmi2"]


def test_a_script_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(NodeError, match=r"cannot read .*job\.sbatch"):
        sbatch_script.read(tmp_path / "job.sbatch")


def test_findings_are_shown_with_file_line_and_fix(tmp_path: Path) -> None:
    found = script_rules.check(SbatchScript("#!/bin/bash\n#SBATCH --partition=big\n"), PLAIN)
    assert command_line.as_text(Path("job.sbatch"), found) == (
        "job.sbatch:2: error: unknown partition 'big'\n  -> use one of dev, gpu, or remove the option for the default"
    )
    assert command_line.as_text(Path("job.sbatch"), []) == "job.sbatch: no problems found"
