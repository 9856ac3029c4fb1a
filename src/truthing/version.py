"""The version: this line is its only source."""

__version__ = "0.1.0"
