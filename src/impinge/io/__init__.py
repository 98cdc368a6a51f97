"""Reading and writing mesh and CAD files."""
