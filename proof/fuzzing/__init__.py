"""A fuzzer for the readers of untrusted clients, damaged disks and partners."""
