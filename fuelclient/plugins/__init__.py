"""Plugin packages. An unpacked package becomes values; nothing of it is imported or executed."""
