"""The numbers by which series are judged: `thresholds.yaml`, each with its unit and where it comes from."""

from __future__ import annotations

from pathlib import Path

from chathpc.diagnosis.catalogue import Thresholds

thresholds = Thresholds(Path(__file__).with_name("thresholds.yaml"))
threshold = thresholds.value
