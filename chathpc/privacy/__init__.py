"""What leaves the machine: names of the user replaced by placeholders, credentials taken out."""
