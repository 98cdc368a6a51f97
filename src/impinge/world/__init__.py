"""The verbs: which method answers which question about which bodies."""
