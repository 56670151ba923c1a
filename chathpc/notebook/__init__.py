"""chathpc in IPython and Jupyter: `%load_ext chathpc`. How things are shown is in display.py, the rest in magics.py."""
