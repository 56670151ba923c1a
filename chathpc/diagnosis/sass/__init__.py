"""What a stalled GPU instruction waits for: SASS is parsed, its flow followed backwards, and the samples given to the producers."""
