"""Sentences that say what to do or to measure: allowed where a finding advises it."""
