#!/usr/bin/env bash
# Everything that is checked, on a bare Debian with Rust: installs what the tests need, then
# formatting, lints, tests, doc tests and documentation.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

# Debian packages that tests and C dependencies need, by the command that shows they are there.
missing=()
command -v cc >/dev/null || missing+=(build-essential)
command -v git >/dev/null || missing+=(git)
if [ "${#missing[@]}" -gt 0 ]; then
    say "installing ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}"
fi
for component in rustfmt clippy; do
    cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 || rustup component add "$component"
done
cargo nextest --version >/dev/null 2>&1 || cargo install --locked cargo-nextest

say "format"
cargo fmt --all --check
say "lints"
cargo clippy --workspace --all-targets --all-features -- -D warnings
say "tests"
cargo nextest run --workspace --all-features --no-fail-fast
say "doc tests"
cargo test --workspace --all-features --doc
say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --all-features --no-deps
say "all checks passed"
