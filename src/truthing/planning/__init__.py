"""What to buy for a wanted interval: items, labels, labelers, gold; and which items next (docs/plan.md)."""

from truthing.planning.more_gold import gold_effect as gold_effect
