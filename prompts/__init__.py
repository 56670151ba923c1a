"""What is asked of a language model: templates, key lines, and names made harmless."""
