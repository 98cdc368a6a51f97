"""What is unusual about a mesh, and what can be mended without a guess."""
