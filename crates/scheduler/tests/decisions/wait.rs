//! The sum that ETA and explanations rest on.

use proptest::prelude::*;
use waitless_bucket::wait_for_requests_ms;

use crate::{
    buckets::{any_policy, exact_policy, last_grant, open_bucket},
    scene::NOW,
};

proptest! {
    #[test]
    fn the_sum_for_many_requests_ends_where_taking_them_one_by_one_ends(
        policy in exact_policy(),
        stored in open_bucket(),
        requests in 1..400_u64,
    ) {
        let state = stored.map(|stored| stored.of(&policy));
        let last_at = last_grant(state, &policy, requests, NOW);
        prop_assert_eq!(
            wait_for_requests_ms(state.as_ref(), &policy, requests, NOW),
            last_at.since(NOW),
            "{} {:?}", policy, state
        );
    }

    #[test]
    fn where_fractions_are_lost_the_sum_is_early_by_less_than_a_millisecond_a_request(
        policy in any_policy(),
        stored in open_bucket(),
        requests in 1..400_u64,
    ) {
        let state = stored.map(|stored| stored.of(&policy));
        let sum_ms = wait_for_requests_ms(state.as_ref(), &policy, requests, NOW);
        let greedy_ms = last_grant(state, &policy, requests, NOW).since(NOW);
        prop_assert!(
            (sum_ms..sum_ms + requests).contains(&greedy_ms),
            "{policy} {state:?}: {sum_ms} ms, one by one {greedy_ms} ms"
        );
    }
}
