"""What to buy for a wanted interval: items, labels, labelers, gold; and which items next (docs/plan.md)."""

from truthing.planning.sequential import gold_effect as gold_effect
