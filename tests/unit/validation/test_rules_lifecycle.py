import os
from typing import Any

import pytest

from validation.rules import lifecycle


def test_extra_scripts_in_their_folders_are_accepted(draft: Any) -> None:
    draft.put("more/before_slurm/10-one.sh", "more/after_slurm/lib/two.py", "more/controller_ready/three.sh")
    draft.put("more/live/four.sh", "more/README.md")
    assert draft.set("lifecycle", "extra", "more").problems() == []


@pytest.mark.parametrize(
    ("file", "remedy"),
    [
        ("more/one.sh", "move it into before_slurm, after_slurm, controller_ready or live"),
        ("more/befor_slurm/one.sh", "did you mean before_slurm or after_slurm?"),
        ("more/before-slurm/one.sh", "did you mean before_slurm?"),
        ("more/after_slurm.d/one.sh", "did you mean after_slurm or before_slurm?"),
    ],
)
def test_a_script_that_never_runs_is_reported(draft: Any, file: str, remedy: str) -> None:
    [line] = draft.put(file).set("lifecycle", "extra", "more").lines()
    assert remedy in line


def test_a_folder_without_scripts_is_reported(draft: Any) -> None:
    (draft.folder / "more").mkdir()
    [line] = draft.set("lifecycle", "extra", "more").lines()
    fix = "add them to before_slurm/, after_slurm/, controller_ready/ or live/ in this folder"
    assert line.endswith(f"contains no scripts; {fix}")


def test_a_folder_is_relative_to_the_cluster_file(draft: Any, tmp_path: Any) -> None:
    draft.put("own/on_create.sh")
    draft.folder = tmp_path / "clusters"
    draft.folder.mkdir()
    config = draft.set("lifecycle", "source", "../own").config()
    assert config.lifecycle.source == (tmp_path / "own").resolve()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("owm", "folder not found; did you mean own?"),
        ("elsewhere", "folder not found; create 'elsewhere', relative to the cluster file"),
        ("own/on_create.sh", "is a file; use its folder"),
        ("/etc", "must be relative to the cluster file; use e.g. ../scripts"),
        ("~/scripts", "must be relative to the cluster file; use e.g. ../scripts"),
        ("x" * 300, "relative to the cluster file"),
        ("a\0b", "relative to the cluster file"),
    ],
)
@pytest.mark.parametrize("field", ["source", "extra"])
def test_a_missing_folder_is_reported(draft: Any, field: str, given: str, said: str) -> None:
    [line] = draft.put("own/on_create.sh").set("lifecycle", field, given).lines()
    assert line.startswith(f"lifecycle.{field}: ")
    assert line.endswith(said)


def test_a_number_is_not_a_folder(draft: Any) -> None:
    assert draft.set("lifecycle", "source", 7).lines() == [
        'lifecycle.source: 7: must be text, but is a number in YAML; quote it: "7"'
    ]


def test_the_script_that_starts_all_is_in_the_source(draft: Any) -> None:
    draft.put("own/start.sh", "own/lib/on_create.sh").set("lifecycle", {"source": "own", "on_create": "start.sh"})
    assert draft.problems() == []
    [line] = draft.remove("lifecycle", "on_create").lines()
    assert line == 'lifecycle.on_create: "on_create.sh": not found in own; use start.sh'


@pytest.mark.parametrize("name", ["a/b.sh", "../on_create.sh", ".", "on create.sh"])
def test_the_script_that_starts_all_is_a_files_name(draft: Any, name: str) -> None:
    [line] = draft.put("own/on_create.sh").set("lifecycle", {"source": "own", "on_create": name}).lines()
    assert "must be a file name" in line


def test_links_within_a_folder_are_the_files_that_they_lead_to(draft: Any) -> None:
    draft.put("own/on_create.sh").link("own/start.sh", "on_create.sh").set(
        "lifecycle", {"source": "own", "on_create": "start.sh"}
    )
    assert draft.problems() == []


@pytest.mark.parametrize(
    ("name", "target", "said"),
    [
        ("own/secret", "/etc/shadow", "link to a file outside the folder; replace it with a copy"),
        ("own/out", "..", "link to a file outside the folder; replace it with a copy"),
        ("own/gone", "nowhere", "broken link; remove it"),
        ("own/self", "self", "broken link; remove it"),
        ("own/lib2", "lib", "link to a folder, which S3 does not support; replace it with a copy"),
    ],
)
def test_no_link_leads_out_of_a_folder(draft: Any, name: str, target: str, said: str) -> None:
    draft.put("own/on_create.sh", "own/lib/one.sh").link(name, target).set("lifecycle", "source", "own")
    assert draft.lines() == [f'lifecycle.source: "{name.removeprefix("own/")}": {said}']


def test_a_special_file_is_reported(draft: Any) -> None:
    draft.put("own/on_create.sh").set("lifecycle", "source", "own")
    os.mkfifo(draft.folder / "own" / "pipe")
    assert draft.lines() == ['lifecycle.source: "pipe": not a regular file; remove it']


def test_files_of_python_and_git_are_ignored(draft: Any) -> None:
    draft.put("own/on_create.sh", "own/.git/HEAD", "own/lib/__pycache__/x.pyc").link("own/.git/out", "/etc")
    assert draft.set("lifecycle", "source", "own").problems() == []


def test_a_folder_that_is_too_large_is_reported(draft: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "MAX_FILES", 2)
    draft.put("own/on_create.sh", "own/a", "own/b").set("lifecycle", "source", "own")
    [line] = draft.lines()
    assert "3 files of 0 MiB are too much for every node to download; use a folder with only scripts" in line


def test_a_script_that_a_group_starts_is_one_that_is_uploaded(draft: Any) -> None:
    group = ("instance_groups", 2, "overrides")
    [line] = draft.set(*group, {"LifeCycleConfig": {"OnCreate": "setup.sh"}}).lines()
    assert line == (
        'instance_groups[2].overrides.LifeCycleConfig.OnCreate: "setup.sh": not found in the default scripts; set '
        "`lifecycle.source` to the folder that contains it, or set `SourceS3Uri` and `execution_role`"
    )
    draft.put("own/on_create.sh", "own/setup.sh").set("lifecycle", "source", "own")
    assert draft.problems() == []
    [line] = draft.set(*group, {"LifeCycleConfig": {"OnCreate": None, "OnInitComplete": "later.sh"}}).lines()
    assert '"later.sh": not found in own; add it, or set' in line


def test_a_script_from_elsewhere_is_not_looked_for(draft: Any) -> None:
    scripts = {"SourceS3Uri": "s3://sagemaker-ours/a", "OnCreate": "setup.sh"}
    role = "arn:aws:iam::123456789012:role/nodes"
    draft.set("instance_groups", 2, "overrides", {"LifeCycleConfig": scripts, "ExecutionRole": role})
    assert draft.problems() == []


def test_nodes_run_no_agent_with_own_scripts(draft: Any) -> None:
    assert draft.config().lifecycle.has_agent
    assert not draft.put("own/on_create.sh").set("lifecycle", "source", "own").config().lifecycle.has_agent


def test_nodes_run_no_agent_if_only_new_nodes_follow(draft: Any) -> None:
    assert not draft.set("lifecycle", "follow", "new_nodes").config().lifecycle.has_agent


def test_the_folders_of_an_eks_file_have_other_names(draft: Any) -> None:
    draft.put("more/before_kubernetes/one.sh", "more/after_kubernetes/two.sh", "more/before_slurm/three.sh")
    draft.remove("slurm").set("lifecycle", "extra", "more").set("eks", {"version": "1.34"})
    draft.set("instance_groups", [{"name": "work", "instance_type": "ml.g5.xlarge", "instance_count": 1}])
    [line] = [each for each in draft.lines() if each.startswith("lifecycle.extra: ")]
    assert line == 'lifecycle.extra: "before_slurm": never runs; did you mean before_kubernetes?'
