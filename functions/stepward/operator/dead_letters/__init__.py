"""Dead letters: reads them, judges whether they would still have an effect, and sends them again."""
