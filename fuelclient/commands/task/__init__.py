"""Commands about runs, which the command line calls tasks, as Fuel's users know them."""
