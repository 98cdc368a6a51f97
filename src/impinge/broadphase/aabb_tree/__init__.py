"""The default broad phase: a packed tree of boxes, and a list of pairs kept between frames."""
