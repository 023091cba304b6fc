"""Two curves over the number of workers, as an SVG that needs nothing to be looked at."""

from collections.abc import Mapping, Sequence
from html import escape

from tests.bench.nodes.figures import ALL_IDLE, CPU, Medians

_WIDTH, _HEIGHT, _GAP = 380, 250, 60
_LEFT, _TOP, _BOTTOM, _RIGHT = 60, 60, 60, 20
_COLOURS = ("#0b6cb8", "#d1495b", "#3d8c40", "#8e5ea2", "#c98a00")
_TICKS = 4

Curves = Mapping[str, Mapping[int, float]]  # by bundle, by number of workers


def svg(found: Medians, remark: str) -> str:
    """The plot of the time until all workers are idle, and of the scripts' processor time per worker."""
    panels = [_panel(title, curves(found, title), place) for place, title in enumerate((ALL_IDLE, CPU))]
    width = 2 * (_LEFT + _WIDTH + _RIGHT) + _GAP
    height = _TOP + _HEIGHT + _BOTTOM + 30
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
            f'<rect width="{width}" height="{height}" fill="white"/>',
            *panels,
            f'<text x="{_LEFT}" y="{height - 10}" fill="#555" font-size="11">{escape(remark)}</text>',
            "</svg>\n",
        ]
    )


def curves(found: Medians, title: str) -> dict[str, dict[int, float]]:
    """One figure by bundle and size, where it was measured."""
    by_bundle: dict[str, dict[int, float]] = {}
    for (bundle, workers), values in found.items():
        value = values[title]
        if value is not None:
            by_bundle.setdefault(bundle, {})[workers] = value
    return by_bundle


def nice_top(highest: float) -> float:
    """The end of an axis: the least 1, 2, 4, 5 or 8 times a power of ten that is not below ``highest``."""
    power = 1.0
    while power > highest:
        power /= 10
    while power * 10 <= highest:
        power *= 10
    return next(top for top in (power * times for times in (1, 2, 4, 5, 8, 10)) if top >= highest)


def _panel(title: str, lines: Curves, place: int) -> str:
    sizes = sorted({size for line in lines.values() for size in line})
    top = nice_top(max((value for line in lines.values() for value in line.values()), default=1.0))
    parts = [
        f'<g transform="translate({_LEFT + place * (_LEFT + _WIDTH + _RIGHT + _GAP)},{_TOP})">',
        f'<text x="0" y="-30" font-weight="bold">{escape(title)}</text>',
        *_axes(sizes, top),
    ]
    for number, (bundle, line) in enumerate(lines.items()):
        parts += _curve(bundle, line, sizes, top, number)
    return "\n".join([*parts, "</g>"])


def _axes(sizes: Sequence[int], top: float) -> list[str]:
    parts = []
    for tick in range(_TICKS + 1):
        y, value = _HEIGHT * (1 - tick / _TICKS), top * tick / _TICKS
        parts.append(f'<line x1="0" y1="{y:.1f}" x2="{_WIDTH}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="-8" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    parts += [f'<text x="{_x(size, sizes):.1f}" y="{_HEIGHT + 20}" text-anchor="middle">{size}</text>' for size in sizes]
    parts.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT + 40}" text-anchor="middle">workers</text>')
    return parts


def _curve(bundle: str, line: Mapping[int, float], sizes: Sequence[int], top: float, number: int) -> list[str]:
    colour = _COLOURS[number % len(_COLOURS)]
    points = [(_x(size, sizes), _HEIGHT * (1 - line[size] / top), line[size]) for size in sorted(line)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
    parts = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>']
    for x, y, value in points:
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{x:.1f}" y="{y - 9:.1f}" text-anchor="middle" fill="{colour}">{value:.3g}</text>')
    parts.append(f'<text x="{number * 110}" y="-10" fill="{colour}">{escape(bundle)}</text>')
    return parts


def _x(size: int, sizes: Sequence[int]) -> float:
    """A size's place: in proportion, so that what grows with the cluster is a straight line."""
    return _WIDTH * 0.9 * size / max(sizes)
