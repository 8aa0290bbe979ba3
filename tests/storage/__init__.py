"""What only the SQLite store promises: files, disks, threads and power cuts."""
