"""Realistic mess with a known meaning: what `studies/messy_files.py` writes and reads back."""
