"""File readers: each module reads one format, and is imported when a file of that format is read."""
