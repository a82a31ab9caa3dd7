"""Functions of other packages by their names and arguments, over operators of tandem: a script changes its import."""
