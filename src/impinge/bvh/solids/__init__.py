"""What lies inside a solid, by rays through its tree."""
