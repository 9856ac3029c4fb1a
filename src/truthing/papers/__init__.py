"""The methods as published."""
