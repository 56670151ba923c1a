"""What was measured: the calling context tree, its metrics, the locations, and what the data cannot tell."""
