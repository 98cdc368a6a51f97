"""Incremental solid models: hulls and concavities, hierarchies of boxes over them, hierarchical sweep and prune."""
