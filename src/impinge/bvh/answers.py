"""What kernels answer."""

APART = 0
MEETING = 1
FAR_APART = 2
"""Even the volumes of the whole bodies are apart, so neither can be inside the other."""
NOT_RIGID = -1
"""A pose is not a rigid motion."""
UNFINISHED = -2
"""The budget was used up."""
NO_ROOM = -3
"""The workspace must grow first (Workspace.begin)."""
