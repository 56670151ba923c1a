"""How well kernels are predicted: the questions of the papers put to a model, and what chathpc computes for the same launches."""
