"""The kit: rules, table, referee, client, server and command line."""
