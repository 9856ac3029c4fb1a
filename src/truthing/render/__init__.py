"""Results for people: terminal, JSON, pictures. Imported only when something is shown."""
