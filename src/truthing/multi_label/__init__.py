"""Several labels at once: each tag is a question of its own, jointly reported."""
