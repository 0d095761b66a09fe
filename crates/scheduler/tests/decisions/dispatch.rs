use std::{cmp::Reverse, collections::HashMap};

use proptest::prelude::*;
use waitless_job::{AccountId, Class, LaneKey, UnixMillis};
use waitless_scheduler::{Free, dispatch};
use waitless_store::{model::Rank, ops::DueLane};

use crate::scene::account;

/// What there is to dispatch.
#[derive(Debug, Clone)]
struct Case {
    lanes: Vec<DueLane>,
    slots: usize,
    per_account_max: usize,
    running: HashMap<AccountId, usize>,
}

impl Case {
    fn picks(&self) -> Vec<LaneKey> {
        let free = Free {
            slots: self.slots,
            per_account_max: self.per_account_max,
            running: &self.running,
        };
        dispatch(&self.lanes, &free)
    }

    /// Slots that an account has once these are picked.
    fn slots_of(&self, account: &AccountId, picked: &[LaneKey]) -> usize {
        let before = self.running.get(account).copied().unwrap_or(0);
        before + picked.iter().filter(|lane| lane.account() == account).count()
    }

    /// The lanes that could still be picked: something is left, and the account is below its share.
    fn candidates<'a>(&'a self, picked: &'a [LaneKey]) -> impl Iterator<Item = &'a DueLane> {
        self.lanes.iter().filter(|lane| {
            times(&lane.lane, picked) < lane.available as usize
                && self.slots_of(lane.lane.account(), picked) < self.per_account_max
        })
    }

    fn lane(&self, key: &LaneKey) -> &DueLane {
        self.lanes.iter().find(|lane| lane.lane == *key).expect("only due lanes are picked")
    }
}

fn times(lane: &LaneKey, picked: &[LaneKey]) -> usize {
    picked.iter().filter(|one| *one == lane).count()
}

/// A lane's slack and size once it has got these slots.
fn slack(lane: &DueLane, picked: &[LaneKey]) -> (UnixMillis, Reverse<u64>, u64) {
    let put_off_ms = times(&lane.lane, picked) as u64 * lane.token_ms;
    (lane.rank.full_at.plus(put_off_ms), lane.rank.token_ms, lane.rank.time_to_full_ms)
}

fn lane_key(account: usize, group: usize) -> LaneKey {
    format!("account-{account}/group-{group}").parse().expect("a lane")
}

fn any_case() -> impl Strategy<Value = Case> {
    let numbers = (
        prop::sample::select(&Class::ALL[..]),
        // Few moments, so that many lanes are equal in one respect or another.
        (0..6_i64, 1..4_u64),
        prop_oneof![4 => 0..5_u32, 1 => Just(u32::MAX)],
        0..4_u64,
    );
    let lanes = prop::collection::btree_map((0..4_usize, 0..3_usize), numbers, 0..12);
    let lanes = lanes.prop_map(|lanes| {
        lanes
            .into_iter()
            .map(|((account, group), (class, (full_at, size), available, token_ms))| DueLane {
                lane: lane_key(account, group),
                rank: Rank {
                    class,
                    full_at: UnixMillis(full_at),
                    token_ms: Reverse(token_ms),
                    time_to_full_ms: size,
                },
                available,
                token_ms,
            })
            .collect::<Vec<_>>()
    });
    let running = prop::collection::hash_map(0..5_usize, 0..4_usize, 0..5).prop_map(|running| {
        running.into_iter().map(|(of, slots)| (account(&format!("account-{of}")), slots)).collect()
    });
    (lanes.prop_shuffle(), 0..20_usize, 0..8_usize, running).prop_map(
        |(lanes, slots, per_account_max, running)| Case { lanes, slots, per_account_max, running },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn no_more_is_picked_than_slots_lanes_and_shares_allow(case in any_case()) {
        let picks = case.picks();
        prop_assert!(picks.len() <= case.slots);
        for lane in &picks {
            let of_lane = times(lane, &picks);
            prop_assert!(of_lane <= case.lane(lane).available as usize, "{lane}: {of_lane}");
            let of_account = case.slots_of(lane.account(), &picks);
            prop_assert!(of_account <= case.per_account_max, "{lane}: {of_account} with running");
        }
    }

    #[test]
    fn a_slot_stays_free_only_if_every_lane_is_exhausted_or_its_account_has_its_share(
        case in any_case(),
    ) {
        let picks = case.picks();
        if picks.len() < case.slots {
            prop_assert_eq!(case.candidates(&picks).next(), None);
        }
    }

    #[test]
    fn a_better_class_is_passed_over_only_if_its_account_has_its_share(case in any_case()) {
        let picks = case.picks();
        for (index, lane) in picks.iter().enumerate() {
            let class = case.lane(lane).rank.class;
            let best = case.candidates(&picks[..index]).map(|lane| lane.rank.class).min();
            prop_assert_eq!(Some(class), best, "pick {} is {}", index, lane);
        }
    }

    #[test]
    fn within_a_class_least_slack_goes_first_and_of_equal_slack_the_smaller_bucket(
        case in any_case(),
    ) {
        let picks = case.picks();
        for (index, key) in picks.iter().enumerate() {
            let (picked, lane) = (&picks[..index], case.lane(key));
            let least = case
                .candidates(picked)
                .filter(|other| other.rank.class == lane.rank.class)
                .map(|other| slack(other, picked))
                .min();
            prop_assert_eq!(Some(slack(lane, picked)), least, "pick {} is {}", index, key);
        }
    }

    #[test]
    fn the_answer_does_not_depend_on_the_order_of_the_lanes(
        (case, shuffled) in any_case().prop_flat_map(|case| {
            let shuffled = Just(case.lanes.clone()).prop_shuffle();
            (Just(case), shuffled)
        }),
    ) {
        prop_assert_eq!(case.picks(), Case { lanes: shuffled, ..case }.picks());
    }
}

fn picked(lanes: &[DueLane], slots: usize) -> Vec<String> {
    let free = Free { slots, per_account_max: usize::MAX, running: &HashMap::new() };
    dispatch(lanes, &free).iter().map(ToString::to_string).collect()
}

fn due_lane(lane: &str, full_at: i64, available: u32, token_ms: u64) -> DueLane {
    let rank = Rank {
        class: Class::Normal,
        full_at: UnixMillis(full_at),
        token_ms: Reverse(token_ms),
        time_to_full_ms: u64::from(available) * token_ms,
    };
    DueLane { lane: lane.parse().expect("a lane"), rank, available, token_ms }
}

#[test]
fn bursts_of_equal_lanes_are_spent_by_turns() {
    let lanes = [due_lane("a/orders", 0, 3, 60_000), due_lane("b/orders", 0, 3, 60_000)];
    assert_eq!(picked(&lanes, 5), ["a/orders", "b/orders", "a/orders", "b/orders", "a/orders"]);
}

#[test]
fn a_burst_gives_way_to_the_bucket_that_is_full_before_its_next_token() {
    let lanes = [due_lane("a/orders", 0, 3, 60_000), due_lane("b/sales", 90_000, 1, 60_000)];
    assert_eq!(picked(&lanes, 4), ["a/orders", "a/orders", "b/sales", "a/orders"]);
}

#[test]
fn a_lane_without_tokens_is_left_alone() {
    assert_eq!(picked(&[due_lane("a/orders", 0, 0, 60_000)], 5), [""; 0]);
}

#[test]
fn lanes_that_need_no_token_get_what_slots_there_are() {
    assert_eq!(picked(&[due_lane("a/", 0, u32::MAX, 0)], 3), ["a/", "a/", "a/"]);
}
