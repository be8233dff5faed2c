"""Commands of transactions, which the command line calls tasks, as Fuel's users know them."""
