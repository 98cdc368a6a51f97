"""How the verbs are answered: one module a method."""
