"""Answers of the kernels of trees: about one pose, and (negative) why a call has ended early."""

from impinge.geometry.answers import APART as APART
from impinge.geometry.answers import MEETING as MEETING

FAR_APART = 2
"""Even the volumes of the whole bodies are apart, so neither can be inside the other."""
NOT_RIGID = -1
"""A pose is not a rigid motion."""
UNFINISHED = -2
"""The budget was used up."""
NO_ROOM = -3
"""The workspace must grow first (TraversalWorkspace.begin)."""
