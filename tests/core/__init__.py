"""The rules of the house, tried without time, disk or network."""
