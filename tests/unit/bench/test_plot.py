from xml.etree import ElementTree as ET

import pytest

from tests.bench.nodes.figures import ALL_IDLE, CPU, medians
from tests.bench.nodes.plot import curves, nice_top, svg
from tests.unit.bench.runs import run, worker

SVG = "{http://www.w3.org/2000/svg}"


def picture(*bundles: str) -> ET.Element:
    runs = [run(size, worker(size / 100), bundle=bundle, all_idle_s=size * 2) for bundle in bundles for size in (4, 16, 64)]
    return ET.fromstring(svg(medians(runs), "a machine & its <load>"))


def test_each_figure_has_a_curve_for_each_bundle() -> None:
    assert len(picture("ours", "theirs").findall(f".//{SVG}polyline")) == 4
    assert len(picture("ours").findall(f".//{SVG}circle")) == 6


def test_titles_sizes_values_and_the_remark_can_be_read() -> None:
    texts = {text.text for text in picture("ours").iter(f"{SVG}text")}
    assert {ALL_IDLE, CPU, "ours", "4", "16", "64", "128", "0.64", "a machine & its <load>"} <= texts


def test_higher_values_stand_higher() -> None:
    heights = [float(circle.attrib["cy"]) for circle in picture("ours").iter(f"{SVG}circle")][:3]
    assert heights == sorted(heights, reverse=True)


def test_a_point_that_was_not_measured_is_left_out() -> None:
    found = medians([run(4), run(16)])
    assert curves(found | {("ours", 64): dict.fromkeys(found["ours", 4])}, CPU) == {"ours": {4: 0.3, 16: 0.3}}


@pytest.mark.parametrize(("highest", "top"), [(0.3, 0.4), (1.0, 1.0), (63.2, 80), (9.1, 10), (100, 100), (0.02, 0.02)])
def test_an_axis_ends_at_a_round_number_above_all_values(highest: float, top: float) -> None:
    assert nice_top(highest) == pytest.approx(top)
