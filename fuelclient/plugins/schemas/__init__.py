"""JSON schemas of the files of a plugin package, by kind and by the package version that changed them."""
