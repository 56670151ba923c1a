"""The gates that a change passes one after the other; each gives its verdict with the figures that it rests on."""
