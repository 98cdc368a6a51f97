"""The narrow phase of a world: hulls, features and trees of many pairs at once."""
