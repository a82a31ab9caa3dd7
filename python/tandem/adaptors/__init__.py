"""Operators as those of other packages: one module for each, which needs that package."""
