"""What to buy for a wanted interval: items, labels, labelers, gold; and which items next
(docs/plan.md).

`plan.py` is the front door; `world.py` simulates data, `widths.py` grades them, `surface.py` and
`design.py` find the best design, `sequential.py` the next items. Uses everything up to `grading`;
imported by render, app and cli.
"""

from truthing.planning.more_gold import gold_effect as gold_effect
