"""How costs grow with ranks, threads or the size of the problem, and what a run at another scale will cost."""
