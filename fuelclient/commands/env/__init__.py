"""Commands of environments: the environments and their nodes, settings, facts and deployment."""
