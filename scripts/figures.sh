#!/usr/bin/env bash
# Measures every figure that README.md and docs/ quote, from real runs, and fails if one misses its
# bound. Needs bash, cargo and a C compiler; takes about eleven minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."

# Which figures are shown: run, field of its JSON, comparison and bound, or `-` where a figure is
# shown without a bound.
table='
sellers-200           makespan_over_bound                <= 1.005
sellers-200           wakeups_per_request                <= 1.01
sellers-200           slot_wait_seconds                  =  0
sellers-200           upstream_429                       =  0
sellers-200           interactive_busy_wait_seconds.p50  -
sellers-200           interactive_busy_wait_seconds.p99  <= 61
sellers-200           interactive_idle_wait_seconds.p99  <= 0.1
sellers-200-jitter    makespan_over_bound                <= 1.010
sellers-200-jitter    wakeups_per_request                <= 1.01
sellers-200-jitter    slot_wait_seconds                  =  0
sellers-200-jitter    upstream_429                       =  0
sellers-200-naive     makespan_over_bound                -
sellers-200-naive     wakeups_per_request                >= 20
sellers-200-naive     slot_wait_seconds                  -
sellers-200-naive     upstream_429                       -
sellers-200-naive     interactive_busy_wait_seconds.p50  -
sellers-200-naive     interactive_busy_wait_seconds.p99  -
sellers-200-naive     interactive_idle_wait_seconds.p99  -
sellers-200-blocking  makespan_over_bound                >= 10
sellers-200-blocking  wakeups_per_request                -
sellers-200-blocking  slot_wait_seconds                  >= 3600
sellers-200-blocking  upstream_429                       -
sellers-200-blocking  interactive_busy_wait_seconds.p50  -
sellers-200-blocking  interactive_busy_wait_seconds.p99  -
sellers-200-blocking  interactive_idle_wait_seconds.p99  -
import-1000           makespan_seconds                   -
import-1000           makespan_over_bound                <= 1.005
import-1000           wakeups_per_request                <= 1.01
import-1000           slot_wait_seconds                  =  0
import-1000           upstream_429                       =  0
demo                  datasets                           -
demo                  requests                           -
demo                  rows_landed                        -
demo                  rows_missing                       =  0
demo                  rows_duplicated                    =  0
demo                  upstream_429                       =  0
demo                  slot_wait_seconds                  =  0
demo                  makespan_seconds                   -
demo                  makespan_over_bound                <= 1.10
demo                  wakeups_per_request                -
demo-all              datasets                           -
demo-all              requests                           -
demo-all              rows_landed                        -
demo-all              rows_missing                       =  0
demo-all              rows_duplicated                    =  0
demo-all              upstream_429                       =  0
demo-all              slot_wait_seconds                  =  0
demo-all              jobs_dead                          =  0
demo-all              makespan_seconds                   -
demo-all              makespan_over_bound                <= 1.10
demo-base             datasets                           -
demo-base             requests                           -
demo-base             rows_landed                        -
demo-base             rows_missing                       =  0
demo-base             rows_duplicated                    =  0
demo-base             upstream_429                       =  0
demo-base             slot_wait_seconds                  =  0
demo-base             jobs_dead                          =  0
demo-base             makespan_seconds                   -
demo-base             makespan_over_bound                <= 1.10
'

say() { printf '\n== %s\n' "$*" >&2; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
binary=${CARGO_TARGET_DIR:-target}/release/waitless
# Somebody's settings would change what is measured.
unset "${!WAITLESS_@}"

# Runs the binary and keeps its one line of JSON under the name of the run.
measure() {
    local run=$1
    shift
    say "$run: waitless $*"
    # A run that fails prints what it came to all the same; the table says what is wrong with it.
    "$binary" "$@" --output jsonl >"$folder/$run.json" || say "$run: exit code $?"
}

# The number in a field of a run's JSON; of `a.b` the field b of the object a. Empty if it has none.
figure() {
    local json name=$2
    json=$(<"$folder/$1.json")
    if [[ $name == *.* ]]; then
        json=$(grep -oE "\"${name%%.*}\":\{[^}]*\}" <<<"$json") || return 0
        name=${name#*.}
    fi
    sed -nE "s/.*[{,]\"$name\":(-?[0-9.]+([eE][-+]?[0-9]+)?)[,}].*/\1/p" <<<"$json"
}

# Whether a figure keeps its bound. Numbers are fractions, which bash does not compare.
keeps() {
    awk -v value="$1" -v comparison="$2" -v bound="$3" 'BEGIN {
        value += 0; bound += 0
        if (comparison == "<=") exit !(value <= bound)
        if (comparison == ">=") exit !(value >= bound)
        if (comparison == "=") exit !(value == bound)
        exit 1
    }'
}

say "build"
cargo build --release --package waitless --bin waitless

measure sellers-200 simulate --scenario sellers-200
measure sellers-200-jitter simulate --scenario sellers-200 --jitter-ms 5..60 --margin-ms 60
measure sellers-200-naive simulate --scenario sellers-200 --strategy naive
measure sellers-200-blocking simulate --scenario sellers-200 --strategy blocking
measure import-1000 simulate --scenario import-1000
measure demo demo --sellers 20 --speed 60 --store "sqlite:$folder/queue.db"
measure demo-all demo --datasets all --sellers 10 --jitter-ms 5..60
# An hour in a second: a margin of 100 ms is a tenth of the shortest intervals.
measure demo-base demo --datasets all --sellers 2 --token-type base --speed 3600

say "cargo bench --package waitless-bucket"
# Criterion puts a long name on a line of its own, before the time.
cargo bench --quiet --package waitless-bucket --bench evaluate -- \
    --noplot --warm-up-time 0.5 --measurement-time 1 2>"$folder/bench.log" >"$folder/bucket" ||
    { cat "$folder/bench.log" >&2; exit 1; }
say "cargo bench --package waitless-store-sqlite"
cargo bench --quiet --package waitless-store-sqlite --bench throughput 2>"$folder/bench.log" \
    >"$folder/store-sqlite" || { cat "$folder/bench.log" >&2; exit 1; }

missed=0
printf '%-20s  %-34s  %12s  %s\n' RUN FIGURE VALUE BOUND
while read -r run field comparison bound; do
    [[ -n $run ]] || continue
    value=$(figure "$run" "$field")
    verdict=''
    if [[ -z $value ]]; then
        value='none'
        verdict='MISSED: the run has no such figure'
    elif [[ $comparison != - ]]; then
        verdict="$comparison $bound"
        keeps "$value" "$comparison" "$bound" || verdict+='  MISSED'
    fi
    [[ $verdict != *MISSED* ]] || missed=$((missed + 1))
    printf '%-20s  %-34s  %12.12s  %s\n' "$run" "$field" "$value" "$verdict"
done <<<"$table"

printf '\nBENCH bucket: lowest, likely and highest time of one question\n'
awk '/time:/ { sub(/^ +/, name " "); gsub(/ +/, " "); print; name = ""; next } { name = $1 }' \
    "$folder/bucket"
printf '\nBENCH store-sqlite\n'
cat "$folder/store-sqlite"
# Its lines end in the figure, or in the figure and `jobs/s`.
store_figure() { awk -v line="$1" 'index($0, line) { print $(NF - ($NF == "jobs/s")); exit }' "$folder/store-sqlite"; }
check_store() {
    value=$(store_figure "$1")
    if [[ -z $value ]] || ! keeps "$value" "$2" "$3"; then
        printf 'MISSED: `%s` is %s, to be %s %s\n' "$1" "${value:-none}" "$2" "$3"
        missed=$((missed + 1))
    fi
}
check_store 'a worker of 512 slots' '>=' 5000
check_store 'p99 of many over p99 of few' '<=' 3

if [[ $missed -gt 0 ]]; then
    printf '\n%s figures miss their bound\n' "$missed" >&2
    exit 1
fi
printf '\nall figures keep their bounds\n'
