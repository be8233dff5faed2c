"""Commands of sequences: graphs of a release that run one after another."""
