"""What any program needs: compiled code, connections, processes, files; no mahjong."""
