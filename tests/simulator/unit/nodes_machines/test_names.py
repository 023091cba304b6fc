import shutil
from pathlib import Path

import pytest

from local_aws.builds import sources
from local_aws.builds.sources import choose
from local_aws.nodes import protocol, setup, support
from local_aws.nodes.__main__ import main
from local_aws.nodes.cgroups import name_for
from local_aws.nodes.hub import FileSystem, HostError, Hub, Vpc
from local_aws.nodes.image import store


def test_hubs_in_different_folders_have_different_cgroups(tmp_path: Path) -> None:
    names = {name_for(tmp_path / "a"), name_for(tmp_path / "b"), name_for(tmp_path / "c" / ".." / "a")}

    assert len(names) == 2
    assert all(name.startswith("hyperpod-cdk-") for name in names)


def test_the_hubs_process_reads_what_it_was_sent(tmp_path: Path) -> None:
    systems = {"fs-1.fsx.us-west-2.amazonaws.com": FileSystem("10.1.0.9", "abc", tmp_path / "fsx")}
    vpc = Vpc("us-west-2", ("10.1.0.0/16",), "10.1.0.2", systems)
    (tmp_path / protocol.PLAN).write_text(protocol.plan(vpc, [tmp_path / "upper", tmp_path / "lower"], "cgroup"))

    assert protocol.read_plan(tmp_path) == (vpc, (tmp_path / "upper", tmp_path / "lower"), "cgroup")


def test_the_image_and_its_layer_are_used_where_they_were_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert store.find() is None

    image = store.image_of("bookworm")
    image.mkdir(parents=True)
    assert (store.find(), store.layers(image)) == (image, [image])

    store.training_layer(image).mkdir()
    assert store.layers(image) == [store.training_layer(image), image]


def test_another_release_of_debian_is_used_if_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for suite in ("trixie", "forky"):
        store.image_of(suite).mkdir(parents=True)
    assert store.find() == store.image_of("trixie")

    monkeypatch.setenv(sources.ENVIRONMENT, "forky")
    assert store.find() == store.image_of("forky")
    assert choose(["http://mirror.example/debian/ trixie main"], "trixie", lambda _: True)[0] == "forky"


def test_a_half_built_image_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    store.image_of("trixie").with_suffix(".part").mkdir(parents=True)

    assert store.find() is None
    with pytest.raises(HostError, match=r"the node image is not built; build it with `make nodes-setup`"):
        support.image()


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the recipe, to change."""
    copy = tmp_path / "recipe"
    shutil.copytree(store.RECIPE, copy, ignore=shutil.ignore_patterns("extra"))
    monkeypatch.setattr(store, "RECIPE", copy)
    return copy


def test_a_program_that_can_no_longer_be_run_makes_another_image(recipe: Path) -> None:
    before = store.image_of("trixie")
    (recipe / "overlay" / "1_slurm.sh").chmod(0o644)
    assert store.image_of("trixie") != before


def test_the_users_packages_and_wheels_are_in_the_image(recipe: Path) -> None:
    before = store.image_of("trixie"), store.image_packages()
    (recipe / "extra" / "wheels").mkdir(parents=True)
    (recipe / "extra" / "packages").write_text("# Our tools.\nansible-core\njq\n")
    with_packages = store.image_of("trixie"), store.image_packages()
    (recipe / "extra" / "wheels" / "ours-1.0-py3-none-any.whl").write_bytes(b"")
    with_wheel = store.image_of("trixie"), store.image_packages()

    assert len({before[0], with_packages[0], with_wheel[0]}) == 3
    assert with_packages[1] == with_wheel[1] == [*before[1], "ansible-core"]


def test_every_package_is_listed_once() -> None:
    packages = store.packages("packages")

    assert packages == sorted(set(packages))


@pytest.mark.parametrize("folder", ["/run/user/0/nodes", "/sys/x"])
def test_a_hub_below_what_it_hides_is_refused(tmp_path: Path, folder: str) -> None:
    hub = Hub(Path(folder), tmp_path, Vpc("us-west-2", ("10.1.0.0/16",), "10.1.0.2"))

    with pytest.raises(HostError, match=rf"{folder} cannot be used: the hub has its own /run and /sys"):
        hub.start()


def test_a_hub_without_an_image_says_how_to_build_it(tmp_path: Path) -> None:
    hub = Hub(tmp_path / "hub", tmp_path / "none", Vpc("us-west-2", ("10.1.0.0/16",), "10.1.0.2"))

    with pytest.raises(HostError, match=r"no image at .*; build it with `python -m local_aws\.nodes setup`"):
        hub.start()


def test_programs_that_are_missing_are_named_with_debians_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    wanted = {"gpgv", "iproute2", "mmdebstrap", "mount", "systemd-container", "util-linux"}
    assert wanted <= set(setup.missing_packages())


@pytest.mark.parametrize("argv", [("check",), ("setup", "--training"), ("sweep", "folder")])
def test_every_command_is_in_the_help(argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([argv[0], "--help"])
    shown = capsys.readouterr().out
    assert all(word in shown for word in argv)


def test_a_sweep_where_nothing_runs_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(tmp_path)]) == 0

    assert capsys.readouterr().out == f"no nodes in {tmp_path}\n"
