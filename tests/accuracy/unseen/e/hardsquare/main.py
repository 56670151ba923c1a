"""Exact partition functions of the hard-square lattice gas.

The lattice is built site by site; the boundary is a bit mask with one bit a
column and the table maps each mask to its exact integer weight.
"""
import sys
from fractions import Fraction
from math import log


def add_site(table, column, fugacity):
    """Append one site in `column`; left and upper neighbours exclude it."""
    bit = 1 << column
    blockers = bit | (bit >> 1)
    grown = {}
    get = grown.get
    for mask, weight in table.items():
        empty = mask & ~bit
        grown[empty] = get(empty, 0) + weight
        if not mask & blockers:
            grown[mask | bit] = weight * fugacity
    return grown


def partition_function(width, height, fugacity=1):
    table = {0: 1}
    for _ in range(height):
        for column in range(width):
            table = add_site(table, column, fugacity)
    return sum(table.values()), table


def occupation(table, width):
    """Mean occupation of each column of the last row."""
    total = sum(table.values())
    sums = [0] * width
    for mask, weight in table.items():
        column = 0
        while mask:
            if mask & 1:
                sums[column] += weight
            mask >>= 1
            column += 1
    return [float(Fraction(s, total)) for s in sums]


def entropy_estimates(counts):
    """Successive ratios Z(n,n) Z(n-2,n-2) / Z(n-1,n-1)^2 tend to the bulk value."""
    estimates = []
    for a, b, c in zip(counts, counts[1:], counts[2:]):
        estimates.append(0.5 * (log(a) + log(c) - 2.0 * log(b)))
    return estimates


def digits(number):
    text = str(number)
    return text if len(text) < 30 else f"{text[:12]}...{text[-12:]} ({len(text)} digits)"


def main(argv):
    largest = int(argv[1]) if len(argv) > 1 else 18
    counts = []
    for n in range(2, largest + 1):
        z, table = partition_function(n, n)
        counts.append(z)
        print(f"{n:2d} x {n:2d}  states {len(table):6d}  Z = {digits(z)}")
    for k, s in enumerate(entropy_estimates(counts), 4):
        print(f"n = {k:2d}  entropy per site {s:.10f}")
    for fugacity in (2, 4, 8):
        z, table = partition_function(largest - 2, largest - 2, fugacity)
        profile = occupation(table, largest - 2)
        print(f"z = {fugacity}  log Z per site {log(z) / (largest - 2) ** 2:.8f}  edge {profile[0]:.6f}"
              f"  centre {profile[len(profile) // 2]:.6f}")


if __name__ == "__main__":
    main(sys.argv)
