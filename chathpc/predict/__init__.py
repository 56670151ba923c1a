"""What a kernel will do before it runs: its operations, bytes, limiter and time, without the device that it is for."""
