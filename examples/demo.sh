#!/usr/bin/env bash
# What `make demo` shows: the main job on the bundled example.
set -euo pipefail
cd "$(dirname "$0")/../src/truthing/examples/spam"

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

echo "600 messages, five annotators who skip some and err, one spam filter. Nobody knows the truth."
show truthing doctor labels.csv predictions.csv
printf '\nHow good is the filter really? Labels alone know the consensus, not the truth, so the interval is wide.\n'
show truthing grade predictions.csv labels.csv
printf '\nAn expert looked at 50 random messages: that narrows it.\n'
show truthing grade predictions.csv labels.csv --gold gold.csv --metric accuracy --metric precision --metric recall
printf '\nThe same as one page to open in a browser: truthing grade predictions.csv labels.csv --gold gold.csv --html report.html\n'
