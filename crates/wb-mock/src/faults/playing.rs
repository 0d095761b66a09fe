//! Which faults are due.

use super::{Fault, Faults, LowerLimit, Often, Rule};
use crate::dice::{Dice, Topic};
use crate::door::Visit;

/// A script that is being played.
#[derive(Debug, Default)]
pub(crate) struct Playing {
    rules: Vec<(Rule, Count)>,
    /// When it was taken up, in microseconds since the mock started.
    since_us: u64,
    seed: u64,
}

/// How many requests of its kind a rule has seen.
type Count = u64;

/// Somebody else's requests to one bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HiddenClient {
    pub(crate) visit: Visit,
    pub(crate) next_us: u64,
    pub(crate) step_us: u64,
    pub(crate) until_us: u64,
}

impl Playing {
    pub(crate) fn new(faults: Faults, since_us: u64, seed: u64) -> Self {
        let rules = faults.rules.into_iter().map(|rule| (rule, 0)).collect();
        Self { rules, since_us, seed }
    }

    /// The fault to play on a request that would be admitted. Every rule for such requests counts
    /// it, whichever plays.
    pub(crate) fn fault(&mut self, visit: &Visit, now_us: u64) -> Option<Fault> {
        let passed_us = now_us.saturating_sub(self.since_us);
        let mut played = None;
        for (index, (rule, count)) in self.rules.iter_mut().enumerate() {
            if !rule.fault.is_of_single_requests() || !rule.is_on(visit, passed_us) {
                continue;
            }
            *count += 1;
            let plays = match &rule.often {
                Often::Always => true,
                Often::Every(n) => count.is_multiple_of(n.get()),
                Often::Numbers(numbers) => numbers.contains(count),
                Often::Chance(millionths) => {
                    let numbers = [index as u64, *count];
                    Dice::of(self.seed, Topic::Fault, &numbers).below(1_000_000) < *millionths
                }
            };
            if plays && played.is_none() {
                played = Some(rule.fault.clone());
            }
        }
        played
    }

    /// The limit that is in force in place of the published one.
    pub(crate) fn lower_limit(&self, visit: &Visit, now_us: u64) -> Option<LowerLimit> {
        let passed_us = now_us.saturating_sub(self.since_us);
        self.rules.iter().find_map(|(rule, _)| match rule.fault {
            Fault::LowerLimit(lower) if rule.is_on(visit, passed_us) => Some(lower),
            _ => None,
        })
    }

    /// The hidden clients of these visits, one for each rule and bucket; `interval_us` is that of
    /// the visit's bucket.
    pub(crate) fn hidden_clients(
        &self,
        visits: &[Visit],
        interval_us: impl Fn(&Visit) -> u64,
    ) -> Vec<HiddenClient> {
        let mut clients: Vec<HiddenClient> = Vec::new();
        for (rule, _) in &self.rules {
            let Fault::HiddenClient { every_interval } = rule.fault else { continue };
            let first = clients.len();
            for visit in visits.iter().filter(|visit| rule.whom.is(visit)) {
                let known = |client: &HiddenClient| client.visit.bucket() == visit.bucket();
                if clients[first..].iter().any(known) {
                    continue;
                }
                let step_us = interval_us(visit).max(1) * every_interval.get();
                clients.push(HiddenClient {
                    visit: *visit,
                    next_us: self.since_us + rule.after_us + step_us,
                    step_us,
                    until_us: self.since_us.saturating_add(rule.until_us),
                });
            }
        }
        clients
    }
}

impl Rule {
    fn is_on(&self, visit: &Visit, passed_us: u64) -> bool {
        (self.after_us..self.until_us).contains(&passed_us) && self.whom.is(visit)
    }
}

impl LowerLimit {
    pub(crate) fn interval_us(self, published_us: u64) -> u64 {
        (published_us as f64 / self.rate) as u64
    }

    pub(crate) fn has_headers(self) -> bool {
        self.headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Dataset};

    fn visit(seller: usize, dataset: Dataset) -> Visit {
        Visit::of_full_limits(seller, crate::Method::of(dataset, Call::Page))
    }

    fn playing(script: &str) -> Playing {
        Playing::new(Faults::read(script).expect("a good script"), 1000, 1)
    }

    fn played(playing: &mut Playing, requests: u64) -> Vec<u64> {
        let visit = visit(0, Dataset::Orders);
        (1..=requests).filter(|_| playing.fault(&visit, 1000).is_some()).collect()
    }

    #[test]
    fn a_rule_plays_on_each_nth_or_on_numbered_requests() {
        let mut every = playing("[[faults]]\nplay = 'hang'\nevery = 3");
        assert_eq!(played(&mut every, 10), [3, 6, 9]);
        let mut numbered = playing("[[faults]]\nplay = 'hang'\nrequests = [2, 4]");
        assert_eq!(played(&mut numbered, 10), [2, 3, 4]);
    }

    #[test]
    fn a_chance_is_kept_and_drawn_alike_each_time() {
        let script = "[[faults]]\nplay = 'hang'\nchance = 0.25";
        let numbers = played(&mut playing(script), 1000);
        assert!((200..300).contains(&numbers.len()), "{}", numbers.len());
        assert_eq!(numbers, played(&mut playing(script), 1000));
    }

    #[test]
    fn others_requests_are_neither_touched_nor_counted() {
        let script =
            "[[faults]]\nplay = 'hang'\nrequests = [1, 1]\nsellers = [1]\ndatasets = ['sales']";
        let mut playing = playing(script);
        assert_eq!(playing.fault(&visit(0, Dataset::Sales), 1000), None);
        assert_eq!(playing.fault(&visit(1, Dataset::Orders), 1000), None);
        assert_eq!(playing.fault(&visit(1, Dataset::Sales), 1000), Some(Fault::Hang));
    }

    #[test]
    fn a_rule_is_on_from_its_beginning_to_its_end() {
        let mut playing = playing("[[faults]]\nplay = 'hang'\nafter_ms = 2\nfor_ms = 3");
        let visit = visit(0, Dataset::Sales);
        let on = [2_999, 3_000, 5_999, 6_000].map(|now_us| playing.fault(&visit, now_us).is_some());
        assert_eq!(on, [false, true, true, false]);
    }

    #[test]
    fn the_first_rule_plays_and_the_second_has_counted() {
        let mut playing = playing(
            "[[faults]]\nplay = 'hang'\nrequests = [1, 1]\n[[faults]]\nplay = 'html'\nevery = 2",
        );
        let visit = visit(0, Dataset::Sales);
        let names = [1, 2].map(|_| playing.fault(&visit, 1000).map(|fault| fault.name()));
        assert_eq!(names, [Some("hang"), Some("html")]);
    }
}
