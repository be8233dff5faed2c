"""Which task runs on which node, when, and how a run ends; pure functions only."""
