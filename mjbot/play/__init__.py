"""Programs that sit at tables: client, server, match, service, check."""
