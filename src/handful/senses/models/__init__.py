"""Models of the senses of one word: a card each, imported when it is named."""
