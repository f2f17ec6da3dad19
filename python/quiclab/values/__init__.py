"""The lowest floor: values and folders. Documents, units, words, run folders, stored tables; it knows no results."""
