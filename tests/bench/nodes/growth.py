"""What must not grow with the cluster: what each worker pays for its own start."""

from tests.bench.nodes.figures import CPU, PROGRAMS, REQUESTS, Key, Medians, base_keys

# Times the smallest size's. One look more at whether slurmctld knows the node is a program and two connections, of thirty and
# ten; what every worker did for each other one would be many times as much.
LIMITS = {CPU: 1.3, PROGRAMS: 1.1, REQUESTS: 1.5}


def growth(found: Medians, tolerance: float) -> bool:
    """Print each ratio of the first bundle beside its limit; tell whether all hold, or stay within ``tolerance`` times theirs."""
    first = next(iter(found))[0]
    held = True
    for key in found:
        smallest, _ = base_keys(found, key)
        if key[0] != first or key == smallest:
            continue
        for title, limit in LIMITS.items():
            held &= _holds(found, title, (smallest, key), limit, tolerance)
    return held


def _holds(found: Medians, title: str, keys: tuple[Key, Key], limit: float, tolerance: float) -> bool:
    base, value = (found[key][title] for key in keys)
    sizes = f"{keys[1][1]} against {keys[0][1]} workers"
    if base is None or value is None:
        print(f"{title}, {sizes}: not measured")
        return True
    grown = value / base
    word = "ok" if grown <= limit else "over it, within the tolerance" if grown <= limit * tolerance else "GROWS"
    print(f"{title}, {sizes}: {value:.2f} / {base:.2f} = {grown:.2f} (at most {limit}): {word}")
    return grown <= limit * tolerance
