"""What a model is asked: templates as YAML data, and the code that fills them with facts."""
