use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize, de};
use waitless_bucket::Cost;

use crate::{AccountId, LimitGroup, NameError};

/// Names a bucket: one account's quota on one limit group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BucketKey {
    /// The account.
    pub account: AccountId,
    /// The limit group.
    pub group: LimitGroup,
}

impl fmt::Display for BucketKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.account, self.group)
    }
}

impl FromStr for BucketKey {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let (account, group) = text.split_once('/').unwrap_or((text, ""));
        Ok(Self { account: account.parse()?, group: group.parse()? })
    }
}

impl Serialize for BucketKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BucketKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Tokens that a job's next request takes from one limit group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Need {
    /// The limit group.
    pub group: LimitGroup,
    /// Tokens.
    pub cost: Cost,
}

/// All tokens that a job's next request takes, in order of group, each group once. Empty for a
/// job that talks to nobody's API: it waits for a slot only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct Needs(Arc<[Need]>);

impl Needs {
    /// No tokens.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// One token of one group.
    #[must_use]
    pub fn one(group: LimitGroup) -> Self {
        Self(Arc::new([Need { group, cost: Cost::ONE }]))
    }

    /// Any number of needs; of several for one group the dearest counts.
    #[must_use]
    pub fn new(needs: impl IntoIterator<Item = Need>) -> Self {
        let mut needs: Vec<Need> = needs.into_iter().collect();
        // Dearest first within a group, so that dedup keeps it.
        needs.sort_by(|a, b| a.group.cmp(&b.group).then(b.cost.cmp(&a.cost)));
        needs.dedup_by(|later, kept| later.group == kept.group);
        Self(needs.into())
    }

    /// The needs, in order of group.
    #[must_use]
    pub fn as_slice(&self) -> &[Need] {
        &self.0
    }

    /// Whether a job with these needs waits for slots only.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for Needs {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Need>::deserialize(deserializer).map(Self::new)
    }
}

/// Names a lane: an account and the set of limit groups its jobs need. The queue that a job waits
/// in; written `account/group+group`, or `account/` for the lane of jobs which need no token.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneKey {
    account: AccountId,
    groups: Arc<[LimitGroup]>,
}

impl LaneKey {
    /// The lane in which a job of this account with these needs waits.
    #[must_use]
    pub fn of(account: &AccountId, needs: &Needs) -> Self {
        let groups = needs.as_slice().iter().map(|need| need.group.clone()).collect();
        Self { account: account.clone(), groups }
    }

    /// The account.
    #[must_use]
    pub fn account(&self) -> &AccountId {
        &self.account
    }

    /// Whether a job of this lane draws on this limit group.
    #[must_use]
    pub fn draws_on(&self, group: &LimitGroup) -> bool {
        self.groups.binary_search(group).is_ok()
    }

    /// The buckets that a job of this lane draws on, in order of group.
    pub fn buckets(&self) -> impl Iterator<Item = BucketKey> + '_ {
        self.groups
            .iter()
            .map(|group| BucketKey { account: self.account.clone(), group: group.clone() })
    }
}

impl fmt::Display for LaneKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.account)?;
        for (index, group) in self.groups.iter().enumerate() {
            if index > 0 {
                f.write_str("+")?;
            }
            write!(f, "{group}")?;
        }
        Ok(())
    }
}

impl FromStr for LaneKey {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let (account, groups) = text.split_once('/').unwrap_or((text, ""));
        let groups = groups.split('+').filter(|group| !group.is_empty());
        let groups = groups.map(|group| group.parse().map(|group| Need { group, cost: Cost::ONE }));
        Ok(Self::of(&account.parse()?, &Needs::new(groups.collect::<Result<Vec<_>, _>>()?)))
    }
}

impl Serialize for LaneKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_named_after_its_account_and_sorted_groups() {
        let need = |group: &str, cost| Need {
            group: group.parse().unwrap(),
            cost: Cost::new(cost).unwrap(),
        };
        let needs = Needs::new([need("sales", 1), need("orders", 2), need("sales", 3)]);
        assert_eq!(needs.as_slice(), [need("orders", 2), need("sales", 3)]);

        let account = "acct-1".parse().unwrap();
        let lane = LaneKey::of(&account, &needs);
        assert_eq!(lane.to_string(), "acct-1/orders+sales");
        assert_eq!(lane.to_string().parse::<LaneKey>().unwrap(), lane);

        let unlimited = LaneKey::of(&account, &Needs::none());
        assert_eq!(unlimited.to_string(), "acct-1/");
        assert_eq!("acct-1/".parse::<LaneKey>().unwrap(), unlimited);
    }
}
