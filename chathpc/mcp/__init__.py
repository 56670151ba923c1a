"""The read-only tools for other programs: a server of the Model Context Protocol over standard input and output.

opened.py      which profiles are open, and what may be opened besides
guard.py       nothing that a client asks writes a file, starts a program or uses the network
offers.py      tools, resources and prompts as plain values; knows nothing of the protocol
server.py      the protocol, by the package `mcp` (extra `mcp`), imported there alone
"""
