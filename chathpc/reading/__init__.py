"""What a model that reads is shown and asked, and what of its answer may be printed: checked by construction, never by its wording."""
