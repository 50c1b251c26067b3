"""The `stepward` command: what people type; never part of a Lambda bundle."""
