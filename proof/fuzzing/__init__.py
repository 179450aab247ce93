"""A fuzzer for whatever reads what strangers, damaged disks or partners say."""
