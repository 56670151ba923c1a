#!/usr/bin/env python3
# Inbreeding and gene-drop statistics of a small conservation herd.
import argparse
import random
from collections import namedtuple

import numpy as np

Animal = namedtuple("Animal", "ident sire dam born sex")


class StudBook:
    """Pedigree in order of birth; founders have no parents."""

    def __init__(self):
        self.animals = []
        self.by_year = {}

    def register(self, sire, dam, year, sex):
        animal = Animal(len(self.animals), sire, dam, year, sex)
        self.animals.append(animal)
        self.by_year.setdefault(year, []).append(animal)
        return animal

    def cohort(self, year):
        return self.by_year.get(year, [])

    def parents(self, ident):
        a = self.animals[ident]
        return a.sire, a.dam

    def inbreeding(self, ident):
        sire, dam = self.parents(ident)
        if sire is None or dam is None:
            return 0.0
        return self.coancestry(sire, dam)

    def coancestry(self, i, j):
        """Probability that two alleles drawn from i and j are identical by descent."""
        if i == j:
            return 0.5 * (1.0 + self.inbreeding(i))
        if i < j:
            i, j = j, i
        sire, dam = self.parents(i)
        if sire is None:
            return 0.0
        return 0.5 * (self.coancestry(sire, j) + self.coancestry(dam, j))

    def __len__(self):
        return len(self.animals)


def breed(founders, years, per_year, rng):
    book = StudBook()
    for k in range(founders):
        book.register(None, None, 0, "MF"[k % 2])
    for year in range(1, years + 1):
        pool = book.cohort(year - 1)
        bulls = [a for a in pool if a.sex == "M"]
        cows = [a for a in pool if a.sex == "F"]
        for k in range(per_year):
            sire, dam = rng.choice(bulls), rng.choice(cows)
            book.register(sire.ident, dam.ident, year, "MF"[k % 2])
    return book


def gene_drop(book, replicates, seed):
    """Send founder alleles down the pedigree; each founder carries two unique ones."""
    gen = np.random.default_rng(seed)
    alleles = np.empty((len(book), 2, replicates), dtype=np.int16)
    label = 0
    columns = np.arange(replicates)
    for a in book.animals:
        if a.sire is None:
            alleles[a.ident, 0] = label
            alleles[a.ident, 1] = label + 1
            label += 2
        else:
            pick = gen.integers(0, 2, (2, replicates))
            alleles[a.ident, 0] = alleles[a.sire, pick[0], columns]
            alleles[a.ident, 1] = alleles[a.dam, pick[1], columns]
    return alleles, label


def surviving(alleles, cohort, labels):
    rows = [a.ident for a in cohort]
    present = np.zeros((labels, alleles.shape[2]), dtype=bool)
    columns = np.arange(alleles.shape[2])
    for r in rows:
        present[alleles[r, 0], columns] = True
        present[alleles[r, 1], columns] = True
    return present.sum(axis=0)


def mean_kinship(book, cohort):
    total = 0.0
    for a in cohort:
        for b in cohort:
            total += book.coancestry(a.ident, b.ident)
    return total / len(cohort) ** 2


def report(book, years, alleles, labels):
    for year in range(1, years + 1):
        cohort = book.cohort(year)
        coeffs = [book.inbreeding(a.ident) for a in cohort]
        homozygous = np.mean([(alleles[a.ident, 0] == alleles[a.ident, 1]).mean()
                              for a in cohort])
        kept = surviving(alleles, cohort, labels)
        print(f"year {year:2d}  F {np.mean(coeffs):.6f}  max {max(coeffs):.6f}"
              f"  drop {homozygous:.4f}  alleles {kept.mean():.3f} +- {kept.std():.3f}")
    last = book.cohort(years)
    kin = mean_kinship(book, last)
    print(f"mean kinship {kin:.8f}  founder genome equivalents {0.5 / kin:.5f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--years", type=int, default=8)
    parser.add_argument("--founders", type=int, default=10)
    parser.add_argument("--calves", type=int, default=12)
    parser.add_argument("--drops", type=int, default=200000)
    args = parser.parse_args()
    book = breed(args.founders, args.years, args.calves, random.Random(31))
    alleles, labels = gene_drop(book, args.drops, 77)
    print(f"{len(book)} animals, {labels} founder alleles")
    report(book, args.years, alleles, labels)


if __name__ == "__main__":
    main()
