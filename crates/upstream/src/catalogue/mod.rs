//! An upstream as data.

mod check;
mod endpoint;
mod error;
mod file;

use std::{collections::BTreeMap, path::Path, sync::Arc};

use waitless_job::{AccountId, BucketKey, LimitGroup, Policy};

pub use self::endpoint::{CredentialHeader, Endpoint, Group};
pub use self::error::{CatalogueError, ScaleError, UnknownFamily};
use crate::Hints;

/// What is known of an upstream: its limits, its endpoints, and how its answers speak of limits.
///
/// Read from TOML, one file per upstream, dated, because limits change several times a year and
/// must not need a new program. A key that is not listed here is an error, and so is everything
/// that cannot be: an endpoint of a group that is not there, a request dearer than its bucket.
///
/// ```
/// use waitless_upstream::Catalogue;
///
/// let shop = Catalogue::parse("shop.toml", r#"
/// upstream = "shop"
/// facts_as_of = 2026-10-01
/// families = ["full", "trial"]           # kinds of credentials that have limits of their own
///
/// [credential]
/// header = "Authorization"
/// prefix = "Bearer "                     # optional, in front of the credential
///
/// [answers]
/// remaining = "X-Ratelimit-Remaining"    # optional: whole requests that may go now
/// retry = [{ header = "Retry-After", unit = "s" }]   # after a 429: "s" or "ms"; default none
/// refused_is_charged = false             # whether a 429 has cost something
/// message_fields = ["detail", "title"]   # where errors have their text; default none
///
/// [hosts]
/// api = { url = "https://api.shop.example" }
///
/// [[groups]]                             # one bucket for each account
/// name = "orders"
/// limits = [
///   { families = ["full"], policy = "1/min burst 10" },
///   { families = ["trial"], policy = "1/3h burst 1" },
/// ]
///
/// [[groups]]
/// name = "ping"
/// limits = [{ policy = "3/30s" }]        # all families; one that is not named is shut out
///
/// [[endpoints]]
/// name = "orders"
/// method = "GET"
/// host = "api"
/// path = "/v1/orders"
/// group = "orders"
/// cost = 1                               # optional: tokens that a request takes; default 1
/// page_rows = 80000                      # optional: rows on a full page, about
/// "#)?;
///
/// let limits = shop.limits(&"acct-17".parse()?, "trial")?;
/// let shown: Vec<_> = limits.iter().map(|(bucket, policy)| format!("{bucket}: {policy}")).collect();
/// assert_eq!(shown, ["acct-17/orders: 1/3h burst 1 margin 60ms", "acct-17/ping: 3/30s burst 3 margin 60ms"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Catalogue {
    upstream: String,
    facts_as_of: String,
    families: Vec<String>,
    credential: CredentialHeader,
    hints: Hints,
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
    /// [`CatalogueError::Invalid`] with file, line and field.
    pub fn parse(file: &str, text: &str) -> Result<Self, CatalogueError> {
        let source = error::Source { file, text };
        let raw = toml::from_str(text).map_err(|error| source.toml_error(&error))?;
        check::check(source, raw)
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

    /// Which header carries the credential.
    #[must_use]
    pub fn credential(&self) -> &CredentialHeader {
        &self.credential
    }

    /// The limit groups, by name.
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

    /// The buckets of an account whose credential is of this family, in order of group. A group
    /// that is closed to the family has none.
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

    /// The same with every interval divided by `speed` (rounded up to whole milliseconds, so never
    /// faster than that) and another guard margin in milliseconds. For demonstrations and tests
    /// against an upstream whose limits are as much faster.
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
