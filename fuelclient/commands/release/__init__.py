"""Commands of releases: themselves, and the components and repositories that they have."""
