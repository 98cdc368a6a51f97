"""The hierarchical spatial hash table, from scratch and with coherence."""
