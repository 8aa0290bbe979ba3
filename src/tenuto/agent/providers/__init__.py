"""The models that can be asked: one module for each wire, and the catalogue of all."""
