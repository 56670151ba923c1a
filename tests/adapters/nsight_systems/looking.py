"""What the tests look at: nodes by their path, sums by path."""

from __future__ import annotations

from chathpc.profile.profile import Profile


def paths(profile: Profile, metric: str) -> dict[str, float]:
    """Exclusive values of all nodes that have one, by path (`process (a.out) / main thread / …`)."""
    column = profile.exclusive(metric)
    found: dict[str, float] = {}
    for node, value in zip(column.nodes.tolist(), column.values.tolist(), strict=True):
        path = " / ".join(profile.tree.label(step) for step in profile.tree.path(node))
        found[path] = found.get(path, 0.0) + value
    return found


def below(profile: Profile, metric: str, name: str) -> dict[str, float]:
    """As `paths`, of nodes with that name; the path without the node itself."""
    return {
        path.removesuffix(f" / {name}"): value
        for path, value in paths(profile, metric).items()
        if path.endswith(f" / {name}")
    }
