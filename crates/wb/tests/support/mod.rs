//! What the tests of imports and those of bad weather share: a worker in front of the stand-in, and
//! a sink that notes how its rows came.

#![allow(dead_code, reason = "each of the two test binaries uses a part of it")]

pub(crate) mod fleet;
pub(crate) mod recorder;

use waitless_job::UnixMillis;

/// Noon of 2026-10-01 in UTC: what the stand-in takes for the moment it starts.
pub(crate) const NOON: UnixMillis = UnixMillis(1_790_856_000_000);
