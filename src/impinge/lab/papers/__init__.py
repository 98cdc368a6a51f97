"""The experiments of the papers, run again: one command each, with the papers' own figures beside ours."""
