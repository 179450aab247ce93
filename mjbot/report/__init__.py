"""How results are shown: figures with their intervals as text, Markdown, HTML, plots."""
