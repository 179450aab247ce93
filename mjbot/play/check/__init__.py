"""Protocol compliance of a bot or server: checks by id, with transcripts."""
