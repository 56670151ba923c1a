"""What lies beside a profile and measured nothing itself: records of compilers, machine code, predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from chathpc.profile.compiler import alone, joined
from chathpc.profile.kernel_names import kernel_key
from chathpc.profile.profile import Profile
from chathpc.profile.text import clean
from chathpc.profile.tree import NodeKind


def with_companions(measured: Profile | None, companions: Sequence[Profile]) -> Profile:
    """`measured` with the records and the code of `companions` beside it; what they are about is found by file, line and name.

    Without anything measured the companions together, which support no conclusion.
    """
    base = companions[0] if measured is None else measured
    every = (*([] if measured is None else [measured]), *companions)
    builds = [view.build for view in every if view.build is not None]
    build = joined(builds) if builds else None
    insufficient = base.insufficient
    if measured is None and build is not None:
        insufficient = alone(build, [source.path.name for view in companions for source in view.sources])
    return replace(
        base,
        build=build,
        code=tuple(one for view in every for one in view.code),
        predicted=tuple(one for view in every for one in view.predicted),
        insufficient=insufficient,
        sources=tuple(dict.fromkeys(source for view in every for source in view.sources)),
        caveats=tuple(
            dict.fromkeys([*(text for view in every for text in view.caveats), *_strangers(measured, companions)])
        ),
    )


def _strangers(measured: Profile | None, companions: Sequence[Profile]) -> list[str]:
    """A word on code that shows none of the kernels that were measured."""
    if measured is None:
        return []
    tree = measured.tree
    names = np.unique(tree.name[tree.kind == NodeKind.GPU_KERNEL]).tolist()
    kernels = {kernel_key(tree.names[name]) for name in names if name >= 0}
    return [
        f"{clean(view.title)} shows none of the profile's kernels: it is {what} another program, or of another version."
        for view in companions
        for what, own in (("the code of", view.code), ("about", view.predicted))
        if own and not kernels & {kernel_key(each.kernel) for each in own}
    ]
