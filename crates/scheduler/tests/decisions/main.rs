//! What the scheduler decides, against oracles that count step by step.

mod backoff;
mod buckets;
mod dispatch;
mod eta;
mod explain;
mod run;
mod scene;
mod wait;
