#!/usr/bin/env bash
# Fuzzes every reader of what an upstream sends, one after the other, and prints how each ended.
#   scripts/fuzz.sh [SECONDS each, default 300] [TARGET..]
# Needs a nightly toolchain. What is found lies in fuzz/artifacts/TARGET; put it into fuzz/corpus/TARGET
# when it is mended, where the tests replay it.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-300}
targets=("${@:2}")
cargo fuzz --version >/dev/null 2>&1 || cargo install --locked cargo-fuzz
if [ ${#targets[@]} -eq 0 ]; then
    mapfile -t targets < <(cargo +nightly fuzz list)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
for target in "${targets[@]}"; do
    # Found inputs go to a copy: the corpus that is kept grows by hand.
    found=fuzz/target/corpus/$target
    mkdir -p "$found"
    if cargo +nightly fuzz run "$target" "$found" "fuzz/corpus/$target" -- \
        -max_total_time="$seconds" -max_len=4096 >"$log" 2>&1; then
        echo "$target: $(grep -E '^Done ' "$log")"
    else
        failed=1
        tail -n 40 "$log"
        echo "$target: FAILED"
    fi
done
exit $failed
