"""The scene of ``impinge demo``: an engine bay made of numbers, with planted mistakes."""
