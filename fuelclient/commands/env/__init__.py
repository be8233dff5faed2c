"""Commands of environments: the environments themselves, and the nodes in them."""
