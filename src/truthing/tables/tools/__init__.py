"""What evaluation and annotation tools write: one short reader for each."""
