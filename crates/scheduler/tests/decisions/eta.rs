use proptest::prelude::*;
use waitless_bucket::{BucketState, Policy, UnixMillis};
use waitless_job::BucketKey;
use waitless_scheduler::{Binding, BucketLoad, BucketTime, Eta, SlotLoad, eta};

use crate::{
    buckets::{Stored, any_bucket, any_policy, exact_policy, last_grant, rate_decides_pace},
    scene::NOW,
};

fn bucket(number: usize) -> BucketKey {
    format!("a/group-{number}").parse().expect("a bucket")
}

/// Requests on some buckets, on some of them none, but not on all.
fn any_loads() -> impl Strategy<Value = Vec<BucketLoad>> {
    let loads = (any_loads_or_none(), 0..4_usize, 1..60_u64);
    loads.prop_map(|(mut loads, index, requests_left)| {
        let index = index % loads.len();
        loads[index].requests_left = requests_left;
        loads
    })
}

fn any_loads_or_none() -> impl Strategy<Value = Vec<BucketLoad>> {
    let load = (exact_policy(), any_bucket(), prop_oneof![1 => Just(0_u64), 6 => 1..60_u64]);
    prop::collection::vec(load, 1..5).prop_map(|loads| {
        let numbered = loads.into_iter().enumerate();
        numbered
            .map(|(number, (policy, stored, requests_left))| BucketLoad {
                bucket: bucket(number),
                policy,
                state: stored.map(|stored| stored.of(&policy)),
                requests_left,
            })
            .collect()
    })
}

fn requests(loads: &[BucketLoad]) -> u64 {
    loads.iter().map(|load| load.requests_left).sum()
}

/// When the last request of a load goes if nothing but its bucket holds it up.
fn last_ms(load: &BucketLoad) -> u64 {
    last_grant(load.state, &load.policy, load.requests_left, NOW).since(NOW)
}

proptest! {
    #[test]
    fn work_that_its_buckets_bind_ends_a_request_after_the_last_grant(
        loads in any_loads(),
        request_ms in 0..5_000_u64,
    ) {
        let requests_left = requests(&loads);
        // So many slots that they never bind.
        let slots = SlotLoad { slots: requests_left * 5_000, requests_left, request_ms };
        let mut buckets: Vec<BucketTime> = loads
            .iter()
            .filter(|load| load.requests_left > 0)
            .map(|load| BucketTime {
                bucket: load.bucket.clone(),
                requests_left: load.requests_left,
                needs_ms: last_ms(load),
                held_until: load.state.and_then(|state| state.held_until(NOW)),
            })
            .collect();
        buckets.sort_by_key(|time| (u64::MAX - time.needs_ms, time.bucket.clone()));
        prop_assert_eq!(
            eta(&loads, slots, NOW),
            Some(Eta {
                at: NOW.plus(buckets[0].needs_ms + request_ms),
                binding: Binding::Bucket { bucket: buckets[0].bucket.clone() },
                buckets,
            })
        );
    }

    #[test]
    fn work_that_slots_bind_ends_within_a_request_of_what_full_slots_need(
        slots in 1..50_u64,
        requests_left in 1..5_000_u64,
        request_ms in 1..5_000_u64,
    ) {
        let load = SlotLoad { slots, requests_left, request_ms };
        let eta = eta(&[], load, NOW).expect("something is left");
        prop_assert_eq!(&eta.binding, &Binding::Slots);
        // One row of requests after the other.
        let full_ms = requests_left.div_ceil(slots) * request_ms;
        let needs_ms = eta.at.since(NOW);
        prop_assert!(
            (full_ms..=full_ms + request_ms).contains(&needs_ms),
            "{needs_ms} ms where full slots need {full_ms} ms"
        );
    }

    #[test]
    fn what_needs_longer_binds(
        loads in any_loads(),
        slots in 1..4_u64,
        request_ms in prop_oneof![0..100_u64, 1_000..50_000_000_u64],
    ) {
        let requests_left = requests(&loads);
        let slots_ms = requests_left * request_ms / slots;
        let slowest_ms = loads.iter().filter(|load| load.requests_left > 0).map(last_ms).max();
        let slowest_ms = slowest_ms.expect("something is left");
        let eta = eta(&loads, SlotLoad { slots, requests_left, request_ms }, NOW)
            .expect("something is left");
        match &eta.binding {
            Binding::Slots => prop_assert!(slots_ms > slowest_ms),
            Binding::Bucket { bucket } => {
                prop_assert!(slowest_ms >= slots_ms);
                let named = loads.iter().find(|load| load.bucket == *bucket).expect("it is one");
                prop_assert_eq!(last_ms(named), slowest_ms);
            }
        }
        prop_assert_eq!(eta.at, NOW.plus(slowest_ms.max(slots_ms) + request_ms));
    }

    #[test]
    fn more_requests_never_end_earlier(
        loads in any_loads(),
        more in prop::collection::vec(0..30_u64, 5),
        slots in 1..10_u64,
        request_ms in 0..5_000_u64,
    ) {
        let at = |loads: &[BucketLoad]| {
            let load = SlotLoad { slots, requests_left: requests(loads), request_ms };
            eta(loads, load, NOW).expect("something is left").at
        };
        let mut longer = loads.clone();
        for (load, more) in longer.iter_mut().zip(more) {
            load.requests_left += more;
        }
        prop_assert!(at(&loads) <= at(&longer));
    }

    // The margin is time: at a higher rate it takes more tokens off the burst, and a backlog about
    // as large as the burst ends so much later.
    #[test]
    fn a_higher_rate_ends_no_later_but_for_the_margin(
        (slower, faster) in slower_and_faster(),
        stored in any_bucket(),
        requests_left in 1..200_u64,
    ) {
        let at = |policy: Policy| {
            let state = stored.map(|stored: Stored| stored.whole_tokens_of(&policy));
            let load = BucketLoad { bucket: bucket(0), policy, state, requests_left };
            eta(&[load], no_slots(), NOW).expect("something is left").at
        };
        let latest = at(slower).plus(u64::from(slower.margin_ms()));
        prop_assert!(at(faster) <= latest, "{slower} {}, {faster} {}", at(slower), at(faster));
    }
}

/// Two limits that differ in their rate alone, and whose pace it decides.
fn slower_and_faster() -> impl Strategy<Value = (Policy, Policy)> {
    (any_policy(), 1..50_u32).prop_map(|(slower, more)| {
        let faster = Policy::from_parts(
            slower.tokens() + more,
            slower.interval_ms(),
            slower.burst(),
            slower.margin_ms(),
        );
        let faster = faster.expect("far below 2^51 units");
        if slower.burst() <= 2 || rate_decides_pace(&faster) {
            return (slower, faster);
        }
        let unguarded = |policy: Policy| policy.with_margin_ms(0).expect("smaller than before");
        (unguarded(slower), unguarded(faster))
    })
}

fn no_slots() -> SlotLoad {
    SlotLoad { slots: 1, requests_left: 0, request_ms: 0 }
}

fn load(policy: &str, level: i64, hold_ms: Option<u64>, requests_left: u64) -> BucketLoad {
    let policy: Policy = policy.parse().expect("a limit");
    let full = BucketState::full(&policy, NOW);
    let hold = hold_ms.map(|hold_ms| NOW.plus(hold_ms));
    let state = Some(BucketState { t: full.iv * level, hold, ..full });
    BucketLoad { bucket: bucket(0), policy, state, requests_left }
}

#[test]
fn an_end_is_the_longest_of_buckets_and_slots_plus_one_request() {
    let minutes = |of: u64| of * 60_000;
    for (what, load, needs_ms) in [
        ("tokens for all", load("1/min burst 10 margin 0", 10, None, 10), 0),
        ("one too many", load("1/min burst 10 margin 0", 10, None, 11), minutes(1)),
        ("none at first", load("1/min burst 10 margin 0", 0, None, 5), minutes(5)),
        ("in debt", load("1/min burst 10 margin 0", -10, None, 5), minutes(15)),
        ("margin stretches", load("1/min burst 1 margin 60ms", 0, None, 5), 5 * 60_060),
        ("a hold that fills", load("1/min burst 2 margin 0", 0, Some(minutes(60)), 2), minutes(60)),
        (
            // What the bucket gains beyond its burst while it is closed is lost.
            "more than the burst after a hold",
            load("1/min burst 2 margin 0", 0, Some(minutes(60)), 5),
            minutes(63),
        ),
        (
            "a hold with the debt of a refusal",
            load("1/min burst 2 margin 0", -59, Some(minutes(60)), 5),
            minutes(64),
        ),
    ] {
        let slots = SlotLoad { slots: 10, requests_left: load.requests_left, request_ms: 500 };
        // Ten tokens at once are the work of one row of slots.
        let needs_ms = needs_ms.max(load.requests_left * 500 / 10);
        let at = eta(&[load], slots, NOW).expect("something is left").at;
        assert_eq!(at.since(NOW), needs_ms + 500, "{what}");
    }
}

#[test]
fn a_run_on_three_buckets_is_bound_by_the_slowest() {
    let run = |number, policy: &str, level_hundredths, requests_left| {
        let whole = load(policy, 0, None, requests_left);
        let state =
            whole.state.map(|state| BucketState { t: state.iv * level_hundredths / 100, ..state });
        BucketLoad { bucket: bucket(number), state, ..whole }
    };
    let loads = [
        run(0, "5/s burst 50 margin 0", 3_800, 14_306),
        run(1, "10/s burst 60 margin 0", 4_200, 7_153),
        run(2, "6/5s burst 10 margin 0", 240, 7_153),
    ];
    let slots = SlotLoad { slots: 8, requests_left: 14_306, request_ms: 400 };
    let time = |number, requests_left, needs_ms| BucketTime {
        bucket: bucket(number),
        requests_left,
        needs_ms,
        held_until: None,
    };
    assert_eq!(
        eta(&loads, slots, NOW),
        Some(Eta {
            // (7,153 - 2.4) / 1.2 a second, and the last request.
            at: NOW.plus(5_958_834 + 400),
            binding: Binding::Bucket { bucket: bucket(2) },
            buckets: vec![
                time(2, 7_153, 5_958_834),
                time(0, 14_306, 2_853_600),
                time(1, 7_153, 711_100),
            ],
        })
    );
}

#[test]
fn nothing_left_has_no_end() {
    assert_eq!(eta(&[], no_slots(), NOW), None);
    let nothing = load("1/min burst 1 margin 0", 0, Some(1_000), 0);
    assert_eq!(eta(&[nothing], no_slots(), NOW), None);
}

#[test]
fn without_slots_the_end_is_far_and_nothing_overflows() {
    let most = SlotLoad { slots: 0, requests_left: u64::MAX, request_ms: u64::MAX };
    let everything = load("1/min burst 1 margin 0", 0, None, u64::MAX);
    let eta = eta(&[everything], most, NOW).expect("something is left");
    assert_eq!(eta.at, UnixMillis(i64::MAX));
}
