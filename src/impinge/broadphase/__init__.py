"""Which of many moving boxes overlap."""
