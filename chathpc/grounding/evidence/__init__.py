"""What a diagnosis says, as facts that sentences can be compared with."""
