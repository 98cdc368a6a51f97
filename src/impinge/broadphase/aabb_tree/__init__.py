"""The default broad phase: a packed AABB tree, and a list of pairs that is kept between frames."""
