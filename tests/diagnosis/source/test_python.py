"""What is said of lines of Python: each fault beside a twin without it, and no text that it stumbles over."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path
from textwrap import dedent

import pytest

from chathpc.diagnosis.source.python import parsed, signs

#: Cause (empty for none), and a text whose line with `# here` is asked about.
CASES = {
    "list of an object": ("quadratic-algorithm", """
        class Graph:
            def __init__(self):
                self.names = []
            def node(self, name):
                if name in self.names:  # here
                    return self.names.index(name)
                self.names.append(name)
        """),
    "set of an object": ("", """
        class Graph:
            def __init__(self):
                self.names = set()
            def node(self, name):
                if name in self.names:  # here
                    return name
                self.names.add(name)
        """),
    "list that is given": ("quadratic-algorithm", """
        def count(words, known):
            return sum(1 for w in words if w in known)  # here
        def main(text):
            known = [w for w in text.split() if w]
            return count(text.split(), known)
        """),
    "few constants": ("", """
        def count(words):
            kept = ["a", "b"]
            return sum(1 for w in words if w in kept)  # here
        """),
    "text": ("", """
        def count(words, text):
            return sum(1 for w in words if w in text)  # here
        """),
    "pop at the front": ("quadratic-algorithm", """
        def walk(start):
            queue = [start]
            while queue:
                node = queue.pop(0)  # here
                queue.extend(node.next)
        """),
    "popleft": ("", """
        from collections import deque
        def walk(start):
            queue = deque([start])
            while queue:
                node = queue.popleft()  # here
                queue.extend(node.next)
        """),
    "grown array": ("quadratic-algorithm", """
        import numpy as np
        def trace(n):
            track = np.zeros(0)
            for i in range(n):
                track = np.append(track, i * 0.5)  # here
            return track
        """),
    "array of each iteration": ("", """
        import numpy as np
        def trace(n, a, b):
            for i in range(n):
                row = a[i]
                row = np.append(row, b)  # here
                yield row
        """),
    "minimum of what grows": ("quadratic-algorithm", """
        def records(values):
            seen = []
            for v in values:
                seen.append(v)
                print(min(seen))  # here
        """),
    "minimum of a row": ("", """
        def records(rows):
            lows = []
            for row in rows:
                lows.append(min(row))  # here
            return lows
        """),
    "inverse of what stays": ("loop-invariant-work", """
        import numpy as np
        def march(K, M, T, steps):
            for s in range(steps):
                A = M + 0.5 * K
                T = np.linalg.inv(A) @ T  # here
            return T
        """),
    "matrix that is factorised again": ("loop-invariant-work", """
        import numpy as np
        def march(K, M, T, steps):
            for s in range(steps):
                T = np.linalg.solve(M + K, T)  # here
            return T
        """),
    "inverse of what changes": ("", """
        import numpy as np
        def march(K, M, T, steps):
            for s in range(steps):
                K[0, 0] = s
                T = np.linalg.inv(K) @ T  # here
            return T
        """),
    "what a method may change": ("", """
        import numpy as np
        class Model:
            def __init__(self, a):
                self.a = a
            def turn(self):
                self.a = self.a.T + 1
            def run(self, steps):
                for _ in range(steps):
                    self.turn()
                    b = np.linalg.inv(self.a)  # here
                return b
        """),
    "own function of what stays": ("loop-invariant-work", """
        import math
        def table(n):
            return [math.exp(-k) for k in range(n)]
        def spectrum(lines, n):
            total = 0.0
            for line in lines:
                weights = table(n)  # here
                total += weights[line]
            return total
        """),
    "own function with an effect": ("", """
        def push(parts, dt):
            for p in parts:
                p.x += dt * p.v
        def main(parts, steps):
            for _ in range(steps):
                done = push(parts, 0.1)  # here
        """),
    "random numbers": ("", """
        import numpy as np
        def walk(n, rng):
            for _ in range(n):
                step = np.random.normal(0.0, 1.0, 3)  # here
                other = np.linalg.norm(rng.random(3))
        """),
    "recursion": ("redundant-recursion", """
        def ways(n, k):
            if n == 0 or k == 0:
                return 1
            return ways(n - 1, k) + ways(n, k - 1)  # here
        """),
    "recursion that remembers": ("", """
        from functools import cache
        @cache
        def ways(n, k):
            if n == 0 or k == 0:
                return 1
            return ways(n - 1, k) + ways(n, k - 1)  # here
        """),
    "halves": ("", """
        def depth(lo, hi):
            mid = (lo + hi) // 2
            return 1 if lo >= mid else depth(lo, mid) + depth(mid, hi)  # here
        """),
    "flush": ("io-bound", """
        def log(file, rows):
            for row in rows:
                file.write(row)
                file.flush()  # here
        """),
    "one flush": ("", """
        def log(file, rows):
            file.writelines(rows)
            file.flush()  # here
        """),
    "numbers from text": ("library-call", """
        def read(path):
            rows = []
            with open(path) as file:
                for line in file:
                    fields = line.split()
                    rows.append([float(x) for x in fields])  # here
            return rows
        """),
    "numbers from numbers": ("", """
        def mean(rows):
            return [float(row.sum()) for row in rows]  # here
        """),
    "elements": ("not-vectorised", """
        import math
        def dew(t, rh):
            out = t.copy()
            for i in range(t.shape[0]):
                for j in range(t.shape[1]):
                    out[i, j] = math.log(rh[i, j]) + t[i, j]  # here
            return out
        """),
    "elements that need the ones before": ("", """
        def smooth(x, a):
            for i in range(1, len(x)):
                x[i] = a * x[i - 1] + (1 - a) * x[i]  # here
        """),
    "compiled elements": ("", """
        from numba import njit
        @njit
        def dew(t, rh):
            for i in range(t.shape[0]):
                t[i] = rh[i] + t[i]  # here
        """),
    "rows of a table": ("not-vectorised", """
        def total(table):
            return sum(row.price for _, row in table.iterrows())  # here
        """),
    "the same in each call": ("loop-invariant-work", """
        import numpy as np
        def basis(net, n):
            p = {0: np.ones_like(net)}
            for k in range(n):
                p[k + 1] = net * p[k]
            return p
        class Model:
            def __init__(self, net, n):
                self.net, self.n = net, n
            def invert(self, data):
                g = basis(self.net, self.n)  # here
                return g[0] @ data
        def node(model, epochs):
            return [model.invert(each) for each in epochs]
        """),
    "another in each call": ("", """
        import numpy as np
        def basis(net, n):
            return [net * k for k in range(n)]
        class Model:
            def __init__(self, net):
                self.net, self.n = net, 0
            def invert(self, data):
                self.n += 1
                return basis(self.net, self.n)[0] @ data  # here
        def node(model, epochs):
            return [model.invert(each) for each in epochs]
        """),
    "a copy to exchange two": ("redundant-copies", """
        class Chain:
            def node(self, i, j):
                trial = list(self.order)  # here
                trial[i], trial[j] = trial[j], trial[i]
                return trial
        """),
    "a copy that is changed whole": ("", """
        class Chain:
            def node(self, n):
                trial = list(self.order)  # here
                for k in range(n):
                    trial[k] = trial[k] + 1
                return trial
        """),
    "no buffer": ("io-small-requests", """
        class Scans:
            def __init__(self, path):
                self.raw = open(path, "rb", buffering=0)
            def node(self, size):
                return self.raw.read(size)  # here
        """),
    "a buffer": ("", """
        class Scans:
            def __init__(self, path):
                self.raw = open(path, "rb")
            def node(self, size):
                return self.raw.read(size)  # here
        """),
    "deep copies": ("redundant-copies", """
        import copy
        def anneal(state, steps):
            for _ in range(steps):
                trial = copy.deepcopy(state)  # here
                trial.swap()
        """),
    "columns": ("strided-access", """
        def correct(data, n):
            for c in range(n):
                series = data[:, c]
                series -= series.mean()  # here
        """),
    "few columns": ("", """
        def centre(points):
            for c in range(3):
                points[:, c] -= points[:, c].mean()  # here
        """),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_of_each_fault_its_cause_and_of_its_twin_none(name: str) -> None:
    cause, text = CASES[name]
    text = dedent(text)
    line = next(number for number, row in enumerate(text.splitlines(), 1) if "# here" in row)
    script = parsed(text)
    assert script is not None
    # Functions that hold no loop are called in one.
    found = list(signs(script, line, repeated="def node" in text))
    assert [each.cause for each in found] == ([cause] if cause else [])
    for each in found:
        assert each.first <= line <= each.last
        assert each.says[0].islower() or each.says[0].isidentifier()
        assert not each.says.endswith(".")


def test_where_the_profile_has_functions_alone_their_lines_are_looked_through() -> None:
    script = parsed(dedent(CASES["list of an object"][1]))
    assert script is not None
    (found,) = signs(script, 5, repeated=True)
    assert (found.cause, found.line, found.first, found.last, found.of_function) == (
        "quadratic-algorithm",
        6,
        5,
        5,
        True,
    )
    assert found.against == ("The profile tells the time of the function, not of this line.",)
    assert not list(signs(script, 3, repeated=True))


def test_whatever_python_is_written_in_can_be_read() -> None:
    """Every line of a part of Python's own library, among it what its tests of the grammar have."""
    library = Path(sysconfig.get_paths()["stdlib"])
    read = 0
    for name in (
        "heapq.py",
        "dataclasses.py",
        "asyncio/queues.py",
        "statistics.py",
        "difflib.py",
        "typing.py",
        "ast.py",
    ):
        text = (library / name).read_text(encoding="utf-8")
        script = parsed(text)
        assert script is not None
        for line in range(1, text.count("\n") + 2, 3):
            read += 1
            for found in signs(script, line, repeated=True):
                assert found.first <= line <= found.last or found.line == line
    assert read > 1500


@pytest.mark.parametrize("text", ["def (", "\0", "x = " + "(" * 5000, "if 1:\n  x\n y", "-" * 20000 + "1"])
def test_what_is_no_python_is_left_alone(text: str) -> None:
    assert parsed(text) is None or isinstance(ast.parse(text), ast.Module)
