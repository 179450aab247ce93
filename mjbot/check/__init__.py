"""Whether somebody's bot or server keeps to the documents: checks by id, with transcripts."""
