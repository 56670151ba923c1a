"""What a loop of the host waits for: its instructions are parsed, its addresses followed, and the samples given to its loads."""
