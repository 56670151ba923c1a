"""What the source says at the hot places: parsed with tree-sitter into one model for all languages, looked at by small
recognisers. Nothing here is measured; rules/source.py gives what is found together with the time of the place.
"""
