"""One foreign thing each, imported when used: mesh files, STEP, ..."""
