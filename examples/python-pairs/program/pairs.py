"""Potential of points that act on each other within a radius: python pairs.py 3500"""

import sys

import numpy as np

RADIUS = 0.1


def neighbours(points):
    """For each point those within the radius."""
    found = []
    for i, here in enumerate(points):
        near = []
        for j, there in enumerate(points):
            if i != j and ((here - there) ** 2).sum() < RADIUS * RADIUS:
                near.append(j)
        found.append(near)
    return found


def potential(points, lists):
    """The sum of 1 / distance over all neighbours."""
    total = 0.0
    for i, near in enumerate(lists):
        for j in near:
            total += 1.0 / np.sqrt(((points[i] - points[j]) ** 2).sum())
    return total


def main():
    """Place the points, find neighbours, and add up."""
    points = np.random.default_rng(1).random((int(sys.argv[1]), 3))
    print(f"{potential(points, neighbours(points)):.6e}")


main()
