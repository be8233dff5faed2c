"""Floor 0: from a snapshot of an environment to task instances in execution order; pure functions only."""
