"""Records: what a run, a log or a sweep left in files, read and written."""
