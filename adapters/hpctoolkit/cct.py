"""cct.db: the values of one context over all locations, without reading anything else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chathpc.adapters.hpctoolkit import structures as st
from chathpc.adapters.hpctoolkit.binary import DatabaseFile


class ContextDatabase:
    """cct.db, opened; `row_of_profile` maps profile numbers of profile.db to locations (−1 for summaries)."""

    def __init__(self, file: DatabaseFile, row_of_profile: NDArray[np.int64], locations: int) -> None:
        self.file = file
        head = file.header(0, st.CONTEXTS)
        self.rows = file.array(int(head["pCtxs"]), st.CONTEXT, int(head["nCtxs"]), int(head["szCtx"]))
        self.row_of_profile = row_of_profile
        self.locations = locations

    def values(self, context: int, metric: int) -> NDArray[np.float64]:
        """Value of metric id `metric` at a context for each location; 0 where a location has none."""
        result = np.zeros(self.locations)
        if not 0 <= context < len(self.rows):
            return result
        row = self.rows[context]
        count = int(row["nValues"])
        indices = self.file.array(int(row["pMetricIndices"]), st.METRIC_INDEX, int(row["nMetrics"]))
        at = int(np.searchsorted(indices["metricId"], metric))
        if at == len(indices) or int(indices["metricId"][at]) != metric:
            return result
        begin = int(indices["startIndex"][at])
        end = int(indices["startIndex"][at + 1]) if at + 1 < len(indices) else count
        if not begin <= end <= count:
            raise self.file.damaged("the index of a context's values is not ascending", int(row["pMetricIndices"]))
        pairs = self.file.array(int(row["pValues"]) + begin * st.PROFILE_VALUE.itemsize, st.PROFILE_VALUE, end - begin)
        profile = pairs["profIndex"]
        if len(profile) and int(profile.max()) >= len(self.row_of_profile):
            raise self.file.damaged("a value belongs to a profile that does not exist", int(row["pValues"]))
        location = self.row_of_profile[profile]
        known = location >= 0
        result[location[known]] = pairs["value"][known]
        return result
