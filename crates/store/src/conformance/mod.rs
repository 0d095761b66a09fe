//! The suite that every store passes: each function is one promise, tried on a fresh store.
//!
//! A store's own tests say how to make one and nothing more:
//!
//! ```
//! use waitless_store::MemoryStore;
//!
//! /// A fresh store, and what must live as long as it does (a directory, a server).
//! async fn fresh() -> (MemoryStore, ()) {
//!     (MemoryStore::new(), ())
//! }
//!
//! waitless_store::conformance!(fresh);
//! # fn main() {}
//! ```
//!
//! [`sequence`] is the other half: random operations, applied to a store and to the reference,
//! after each of which both must have answered and must hold the same.
//!
//! Every function here panics where a promise is broken.

pub mod accounts;
pub mod buckets;
pub mod claims;
pub mod due;
pub mod enqueue;
pub mod lanes;
pub mod leases;
pub mod outcomes;
pub mod pace;
pub mod pauses;
pub mod permits;
pub mod readers;
mod scene;
pub mod sequence;

pub use scene::NOW;

/// One `#[tokio::test]` for each promise of a store.
///
/// Takes an async function without arguments that makes a fresh, empty store and what must live
/// as long as it does: `(store, guard)`.
#[macro_export]
macro_rules! conformance {
    ($fresh:path) => {
        $crate::conformance_tests! {
            $fresh;
            accounts {
                a_paused_account_starts_nothing_until_it_is_resumed
                a_running_job_of_a_paused_account_gets_no_further_permit
                jobs_that_come_while_an_account_is_paused_wait_for_it
                an_account_keeps_its_pause_when_it_is_changed
                adding_an_account_pauses_nothing
                an_unknown_account_cannot_be_paused
            }
            buckets {
                a_hold_closes_a_lane_until_its_end
                a_release_opens_a_held_lane
                an_answer_that_cost_more_puts_the_bucket_in_debt
                a_request_that_came_late_puts_the_next_token_off
                remaining_lowers_a_level_and_never_raises_it
                a_take_is_all_or_none
                draws_on_one_bucket_are_added_up
                a_changed_limit_puts_its_lanes_where_they_belong
                a_limit_that_is_changed_while_its_bucket_is_refused_makes_no_burst
                feedback_on_a_bucket_without_a_limit_is_refused
            }
            claims {
                a_claim_takes_token_job_and_lease_together
                a_claim_without_a_token_takes_nothing
                a_claim_may_be_repeated
                picks_are_taken_in_order
                two_claims_at_once_take_no_job_twice
            }
            due {
                a_lane_is_due_at_the_moment_it_names_and_not_before
                delayed_jobs_come_at_their_moment
                due_leaves_out_excluded_accounts
                due_answers_with_at_most_its_limit
                due_says_how_many_jobs_could_start
                lanes_that_lost_their_token_do_not_hide_others
                what_may_be_due_earlier_is_told
            }
            enqueue {
                enqueue_is_all_or_none
                the_same_id_is_enqueued_once
                a_unique_key_has_one_live_job
                a_cost_above_the_burst_is_refused
                a_bucket_without_a_limit_is_refused
                what_was_enqueued_is_kept_as_it_was
                two_enqueues_of_one_job_at_once_make_one
            }
            lanes {
                jobs_of_a_lane_come_by_class_then_arrival
                lanes_come_by_class_then_slack_then_the_rarer_token_then_the_smaller_bucket
                lanes_of_equal_rank_come_by_account_then_groups
                jobs_without_needs_wait_for_slots_only
                lanes_that_share_a_bucket_share_its_tokens
                a_job_that_draws_on_two_buckets_takes_all_or_none
                an_empty_lane_is_forgotten
            }
            leases {
                a_stale_lease_changes_nothing
                a_renewal_extends_a_lease_and_never_shortens_it
                a_renewal_saves_what_the_job_has
                a_lease_ends_at_its_end_and_not_before
                the_last_lost_lease_makes_a_dead_letter
                leases_are_ended_earliest_first
                every_lease_can_be_ended_at_once
            }
            outcomes {
                a_job_that_ended_stays_as_it_ended
                a_failed_attempt_waits_for_its_backoff
                the_last_failed_attempt_makes_a_dead_letter
                a_checkpoint_that_moved_starts_the_attempts_anew
                a_snooze_costs_no_attempt
                a_job_that_is_handed_back_waits_in_its_lane
                reports_are_answered_in_order
                prune_removes_what_ended_before_a_moment
                a_job_that_was_given_up_can_be_put_back
            }
            pace {
                a_refusal_that_names_no_wait_closes_the_bucket_for_an_interval
                refusals_that_keep_coming_make_a_bucket_slower_until_none_comes
                an_answer_that_says_nothing_new_writes_nothing
            }
            pauses {
                a_paused_limit_starts_nothing_until_it_is_resumed
                the_limits_that_a_pause_changes_are_counted
                a_limit_keeps_its_pause_when_it_is_changed
                a_lane_waits_for_its_account_and_for_its_limits
                a_running_job_gets_no_permit_of_a_paused_limit
                nobody_takes_tokens_of_a_paused_limit
                a_job_that_pauses_its_limits_waits_for_them
            }
            permits {
                a_granted_permit_takes_its_tokens
                a_denied_permit_parks_the_job_with_its_checkpoint
                a_denied_permit_may_leave_the_job_running
                a_refused_permit_saves_nothing
                a_running_job_gives_way_to_a_more_urgent_one
                unspent_tokens_come_back_and_wake_the_lane
                a_permit_given_back_late_gives_no_more_than_it_kept
                unspent_tokens_of_an_unknown_bucket_are_ignored
            }
            readers {
                jobs_are_listed_in_pages_by_id
                jobs_are_listed_by_what_they_match
                jobs_are_listed_by_the_beginning_of_their_id
                a_position_counts_the_jobs_ahead
                jobs_are_counted_by_state
                limits_say_who_waits_for_them_and_who_runs
                accounts_and_runs_are_listed_by_id
                nobody_is_found_in_an_empty_store
            }
        }
    };
}

/// What [`conformance!`](crate::conformance!) is made of.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests {
    ($fresh:path; $($module:ident { $($promise:ident)* })*) => {
        $(mod $module {
            use super::*;

            $(#[tokio::test]
            async fn $promise() {
                let (store, guard) = $fresh().await;
                $crate::conformance::$module::$promise(&store).await;
                drop(store);
                drop(guard);
            })*
        })*
    };
}
