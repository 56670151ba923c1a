"""The tests are in two tiers, and the second is of families: tests/families.py."""

pytest_plugins = ["tests.families"]
