"""Hull features, concavities and caps of a solid."""
