"""The numbers by which differences are judged: `thresholds.yaml`, each with its unit and where it comes from.

threshold("confidence")     0.95
"""

from __future__ import annotations

from pathlib import Path

from chathpc.diagnosis.catalogue import Thresholds

thresholds = Thresholds(Path(__file__).with_name("thresholds.yaml"))
threshold = thresholds.value
