"""The numbers by which a change is judged: `thresholds.yaml`, each with its unit and where it comes from.

threshold("min_pairs")      10
"""

from __future__ import annotations

from pathlib import Path

from chathpc.diagnosis.catalogue import Thresholds

thresholds = Thresholds(Path(__file__).with_name("thresholds.yaml"))
threshold = thresholds.value
