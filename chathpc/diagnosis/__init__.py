"""From a profile to findings: evidence, rules, ranking; the causes themselves are data in catalogue/."""
