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
show truthing error --apparent 0.17 --mislabeling 0.08 --n 600
