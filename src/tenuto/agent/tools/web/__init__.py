"""Pages of the web: which may be reached, fetched within limits, and read in their charset."""
