"""What a sentence denies, supposes or foretells, and whether the diagnosis knows of it."""
