//! An upstream as data.

mod built_in;
mod check;
mod diff;
mod endpoint;
mod error;
mod facts;
mod fields;
mod group;
mod path;
mod summary;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use waitless_job::{AccountId, BucketKey, LimitGroup, Policy};

pub use self::built_in::CatalogueFile;
pub use self::diff::{Change, PolicyChange, changes};
pub use self::endpoint::{ClientSecretHeader, CredentialHeader, Endpoint};
pub use self::error::{CatalogueError, LimitsError, ScaleError, UnknownFamily};
pub use self::facts::{AnswerCost, Category, DailyCap, Statuses};
pub use self::group::Group;
pub use self::path::PathError;
pub use self::summary::Summary;
use crate::Hints;

/// What is known of an upstream: its limits, its endpoints, and how its answers speak of limits.
///
/// Read from TOML, one file per upstream, dated, because limits change several times a year and
/// must not need a new program. A key that is not listed here is an error, and so is everything
/// that cannot be: two endpoints for one call, a group that nobody draws on, a request dearer than
/// its bucket.
///
/// ```
/// use waitless_upstream::Catalogue;
///
/// let shop = Catalogue::parse("shop.toml", r#"
/// upstream = "shop"
/// facts_as_of = 2026-10-01
/// families = ["gold", "silver", "trial"]  # kinds of credentials that have limits of their own
/// family_sets.full = ["gold", "silver"]   # optional: names for several of them
///
/// [credential]
/// header = "Authorization"
/// prefix = "Bearer "                      # optional, in front of the credential
/// client_secret = { header = "X-Client-Secret", families = ["gold"] }   # optional: these need it
/// read_only_bit = 31                      # optional: bit of its mask, from 1, that bars writing
///
/// [answers]
/// remaining = "X-Ratelimit-Remaining"     # optional: whole requests that may go now
/// retry = [{ header = "Retry-After", unit = "s" }]   # after a 429: "s" or "ms"; default none
/// refused_is_charged = false              # whether a 429 has cost something
/// message_fields = ["detail", "title"]    # where errors have their text; default none
///
/// [categories]                            # optional: what a credential must hold
/// sales = { title = "Sales", token_bit = 5 }   # bit of its mask, from 1; none: all are let in
///
/// [hosts]                                 # optional: where to try out, category of its endpoints
/// api = { url = "https://api.shop.example", sandbox = "https://sandbox.shop.example", category = "sales" }
///
/// [[groups]]                              # one bucket for each account, for endpoints to share
/// name = "prices"
/// limits = { full = "1/600ms burst 5", trial = "1/15min burst 1" }   # others are shut out
/// answer_cost = { status = "4xx", requests = 10 }   # optional: such an answer counts as so many
/// note = "why a number is odd"            # optional
///
/// [[endpoints]]
/// name = "prices.get"
/// method = "GET"
/// host = "api"
/// path = "/v1/prices"
/// group = "prices"
/// cost = 1                                # optional: tokens that a request takes; default 1
/// page_rows = 1000                        # optional: rows on a full page, about
/// readonly = true                         # optional: a credential that may only read may ask
/// sandbox = true                          # optional: is there, too; default false
///
/// [[endpoints]]
/// name = "report"
/// method = "GET"
/// host = "api"
/// path = "/v1/reports/{id}"               # with places that a request fills in
/// limits = "3/min"                        # a bucket of its own, here for all families
/// families = ["full"]                     # optional: only these are let in
/// daily_cap = { requests = 20, utc_offset = "+03:00" }   # optional: of a day from midnight there
/// deprecated = true                       # optional, default false
/// removed = 2026-12-31                    # optional: the day on which it is switched off
/// replaced_by = "prices.get"              # optional: the endpoint to ask instead
///
/// [[endpoints]]
/// name = "prices.set"
/// method = "POST"
/// host = "api"
/// path = "/v1/prices"
/// group = "prices"                        # with limits of its own, too: for those families a
/// limits = { trial = "1/d" }              # bucket of its own in place of the group's
/// "#)?;
///
/// let limits = shop.limits(&"acct-17".parse()?, "trial")?;
/// let shown: Vec<_> = limits.iter().map(|(bucket, policy)| format!("{bucket}: {policy}")).collect();
/// assert_eq!(shown, [
///     "acct-17/prices: 1/15min burst 1 margin 60ms",
///     "acct-17/prices.set: 1/d burst 1 margin 60ms",
/// ]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Catalogue {
    upstream: String,
    facts_as_of: String,
    families: Vec<String>,
    credential: CredentialHeader,
    read_only_bit: Option<u32>,
    hints: Hints,
    categories: BTreeMap<String, Category>,
    groups: BTreeMap<LimitGroup, Group>,
    endpoints: BTreeMap<String, Endpoint>,
}

impl Catalogue {
    /// Reads a catalogue file.
    ///
    /// # Errors
    /// [`CatalogueError::Read`] without the file, else as [`Catalogue::parse`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, CatalogueError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| CatalogueError::Read {
            path: path.to_owned(),
            source: Arc::new(error),
        })?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Reads a catalogue from its text; `file` is its name in error texts.
    ///
    /// # Errors
    /// [`CatalogueError::Invalid`] with file, line and field; [`Catalogue::problems`] names all
    /// that is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, CatalogueError> {
        let catalogue = check::check(error::Source { file, text });
        catalogue.map_err(|problems| {
            problems.into_iter().next().expect("what is no catalogue has a problem")
        })
    }

    /// Everything that is wrong with the text of a catalogue, from top to bottom; nothing if
    /// [`Catalogue::parse`] takes it.
    #[must_use]
    pub fn problems(file: &str, text: &str) -> Vec<CatalogueError> {
        let mut problems = check::check(error::Source { file, text }).err().unwrap_or_default();
        problems.sort_by_key(CatalogueError::line);
        problems
    }

    /// The upstream's name.
    #[must_use]
    pub fn upstream(&self) -> &str {
        &self.upstream
    }

    /// The day of which its facts are, as `2026-10-01`.
    #[must_use]
    pub fn facts_as_of(&self) -> &str {
        &self.facts_as_of
    }

    /// The families of credentials that have limits of their own.
    #[must_use]
    pub fn families(&self) -> &[String] {
        &self.families
    }

    /// How answers speak of limits.
    #[must_use]
    pub fn hints(&self) -> &Hints {
        &self.hints
    }

    /// Which headers carry a credential.
    #[must_use]
    pub fn credential(&self) -> &CredentialHeader {
        &self.credential
    }

    /// Which bit of a credential's mask says that it may only read, counted from 1. For readers of the
    /// catalogue: nothing here decides by it.
    #[must_use]
    pub fn read_only_bit(&self) -> Option<u32> {
        self.read_only_bit
    }

    /// The categories of endpoints, by name.
    pub fn categories(&self) -> impl Iterator<Item = &Category> {
        self.categories.values()
    }

    /// The category of this name.
    #[must_use]
    pub fn category(&self, name: &str) -> Option<&Category> {
        self.categories.get(name)
    }

    /// The categories that a credential with this mask is let in to, by name; bits count from 1, as
    /// [`Category::token_bit`] does.
    pub fn open_categories(&self, mask: u64) -> impl Iterator<Item = &Category> {
        self.categories().filter(move |category| category.is_open_to(mask))
    }

    /// The category that a credential must hold for an endpoint; `None` if every one is let in.
    #[must_use]
    pub fn category_of(&self, endpoint: &Endpoint) -> Option<&Category> {
        self.category(endpoint.category()?)
    }

    /// The groups that requests to the endpoints of a category draw on for a family, in order: what
    /// stands still if the category is closed to a credential. Nothing for a category or a family
    /// that is not there.
    #[must_use]
    pub fn groups_in(&self, category: &str, family: &str) -> BTreeSet<LimitGroup> {
        let endpoints = self.endpoints().filter(|endpoint| endpoint.is_open_to(family));
        let inside = endpoints.filter(|endpoint| endpoint.category() == Some(category));
        inside.flat_map(|endpoint| endpoint.groups_of(family)).cloned().collect()
    }

    /// The limit groups, by name: those that are shared, those of one endpoint each, and those that
    /// keep daily caps.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values()
    }

    /// The endpoints, by name.
    pub fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.endpoints.values()
    }

    /// The endpoint of this name.
    #[must_use]
    pub fn endpoint(&self, name: &str) -> Option<&Endpoint> {
        self.endpoints.get(name)
    }

    /// The policy of a group for a family; `None` if the group is closed to it, or not there.
    ///
    /// # Errors
    /// [`UnknownFamily`].
    pub fn policy(
        &self,
        group: &LimitGroup,
        family: &str,
    ) -> Result<Option<Policy>, UnknownFamily> {
        self.check_family(family)?;
        Ok(self.groups.get(group).and_then(|group| group.policy(family)))
    }

    /// The policy that a request to an endpoint is under; `None` if the endpoint is closed to the
    /// family. Its group may be open to it: some endpoints of a group let fewer families in.
    ///
    /// # Errors
    /// [`UnknownFamily`].
    pub fn policy_of(
        &self,
        endpoint: &Endpoint,
        family: &str,
    ) -> Result<Option<Policy>, UnknownFamily> {
        if !endpoint.is_open_to(family) {
            return self.check_family(family).map(|()| None);
        }
        self.policy(endpoint.group_of(family), family)
    }

    /// The buckets that requests to these endpoints draw on, each once, in order of group: what an
    /// account needs that asks nothing else.
    ///
    /// # Errors
    /// [`LimitsError`] for an unknown family or endpoint, or one that is closed to the family.
    pub fn limits_of<'a>(
        &self,
        account: &AccountId,
        family: &str,
        endpoints: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<(BucketKey, Policy)>, LimitsError> {
        self.check_family(family)?;
        let mut limits = BTreeMap::new();
        for name in endpoints {
            let (upstream, endpoint) = (self.upstream.clone(), name.to_owned());
            let Some(known) = self.endpoint(name) else {
                return Err(LimitsError::UnknownEndpoint { upstream, endpoint });
            };
            if !known.is_open_to(family) {
                return Err(LimitsError::Closed { upstream, endpoint, family: family.to_owned() });
            }
            for group in known.groups_of(family) {
                let policy = self.policy(group, family)?;
                limits.insert(group.clone(), policy.expect("its groups are open to whom it is"));
            }
        }
        let bucket = |(group, policy)| (BucketKey { account: account.clone(), group }, policy);
        Ok(limits.into_iter().map(bucket).collect())
    }

    /// The buckets of an account whose credential is of this family, in order of group. A group
    /// that is closed to the family has none. Those of a whole upstream may be hundreds:
    /// [`Catalogue::limits_of`] has only those that are needed.
    ///
    /// # Errors
    /// [`UnknownFamily`].
    pub fn limits(
        &self,
        account: &AccountId,
        family: &str,
    ) -> Result<Vec<(BucketKey, Policy)>, UnknownFamily> {
        self.check_family(family)?;
        let limits = self.groups.values().filter_map(|group| {
            let bucket = BucketKey { account: account.clone(), group: group.name().clone() };
            Some((bucket, group.policy(family)?))
        });
        Ok(limits.collect())
    }

    /// The same with every interval, and the days of daily caps, divided by `speed` (rounded up to
    /// whole milliseconds, so never faster than that) and another guard margin in milliseconds. For
    /// demonstrations and tests against an upstream whose limits are as much faster.
    ///
    /// # Errors
    /// [`ScaleError`] for a speed of 0, or a margin that no bucket can have.
    pub fn scaled(&self, speed: u32, margin_ms: u32) -> Result<Self, ScaleError> {
        if speed == 0 {
            return Err(ScaleError::NoSpeed);
        }
        let mut scaled = self.clone();
        for group in scaled.groups.values_mut() {
            for policy in group.policies.values_mut() {
                *policy = Policy::from_parts(
                    policy.tokens(),
                    policy.interval_ms().div_ceil(u64::from(speed)),
                    policy.burst(),
                    margin_ms,
                )
                .map_err(|source| ScaleError::Policy { group: group.name.clone(), source })?;
            }
        }
        for endpoint in scaled.endpoints.values_mut() {
            if let Some(cap) = &mut endpoint.daily_cap {
                cap.scale(speed);
            }
        }
        Ok(scaled)
    }

    fn check_family(&self, family: &str) -> Result<(), UnknownFamily> {
        if self.families.iter().any(|known| known == family) {
            return Ok(());
        }
        Err(UnknownFamily {
            upstream: self.upstream.clone(),
            family: family.to_owned(),
            known: self.families.join(", "),
        })
    }
}
