"""Two measurements compared: what got slower or faster beyond noise, where, and why.

The room is not called `diff`: a package of that name would take the place of the function `chathpc.diff`.
"""
