use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use waitless_bucket::UnixMillis;

use crate::{AccountId, Class, JobId, Kind, LimitGroup, Needs, RunId};

/// Most bytes of a job's arguments: 1 MiB.
pub const ARGS_BYTES_MAX: usize = 1 << 20;

/// Deepest nesting of a job's arguments.
pub const ARGS_DEPTH_MAX: usize = 64;

/// Attempts a job has unless it says otherwise.
pub const DEFAULT_MAX_ATTEMPTS: u32 = 8;

/// Most bytes of a unique key.
const UNIQUE_KEY_BYTES_MAX: usize = 200;

/// A job to be enqueued.
///
/// ```
/// use waitless_job::{Class, NewJob, UnixMillis};
///
/// let now = UnixMillis(1_700_000_000_000);
/// let job = NewJob::new("orders", "acct-17", &serde_json::json!({"since": "2026-09-01"}), now)?
///     .needs_one("orders".parse()?)
///     .class(Class::Bulk);
/// assert_eq!(job.attempts_max, 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct NewJob {
    /// Names it; enqueueing the same id again changes nothing.
    pub id: JobId,
    /// Names its handler.
    pub kind: Kind,
    /// Whose quota it spends.
    pub account: AccountId,
    /// Tokens its first request takes.
    pub needs: Needs,
    /// How urgent it is.
    pub class: Class,
    /// Its arguments, as JSON.
    pub args: Arc<str>,
    /// Not before then.
    pub run_at: UnixMillis,
    /// Most attempts; default [`DEFAULT_MAX_ATTEMPTS`].
    pub attempts_max: u32,
    /// While a live job has this key, enqueueing another with it answers with the live one.
    pub unique_key: Option<Arc<str>>,
    /// The run it belongs to.
    pub run: Option<RunId>,
}

/// Why a job cannot be enqueued whatever the store holds.
#[derive(Debug, thiserror::Error)]
pub enum NewJobError {
    /// A name is malformed.
    #[error(transparent)]
    Name(#[from] crate::NameError),
    /// The arguments do not serialize, or are not JSON.
    #[error("the arguments are not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// The arguments are too large.
    #[error(
        "the arguments have {bytes} bytes, the limit is {ARGS_BYTES_MAX}: store the data \
         elsewhere and enqueue a reference to it"
    )]
    TooLarge {
        /// Their size.
        bytes: usize,
    },
    /// The arguments are nested too deeply.
    #[error("the arguments are nested deeper than {ARGS_DEPTH_MAX} levels")]
    TooDeep,
    /// The unique key is empty or too long.
    #[error("a unique key has 1 to {UNIQUE_KEY_BYTES_MAX} bytes, this one has {bytes}")]
    UniqueKey {
        /// Its size.
        bytes: usize,
    },
    /// No attempt is allowed.
    #[error("a job needs at least one attempt")]
    NoAttempts,
}

impl NewJob {
    /// A job of a kind for an account, due at once, with default class and attempts and no needs.
    ///
    /// # Errors
    /// [`NewJobError`] if a name is malformed or the arguments are not acceptable JSON.
    pub fn new(
        kind: impl AsRef<str>,
        account: impl AsRef<str>,
        args: &impl Serialize,
        now: UnixMillis,
    ) -> Result<Self, NewJobError> {
        let args = serde_json::to_string(args)?;
        let job = Self {
            id: JobId::new(now),
            kind: Kind::new(kind)?,
            account: AccountId::new(account)?,
            needs: Needs::none(),
            class: Class::default(),
            args: args.into(),
            run_at: now,
            attempts_max: DEFAULT_MAX_ATTEMPTS,
            unique_key: None,
            run: None,
        };
        job.check()?;
        Ok(job)
    }

    /// Its first request takes one token of this group.
    #[must_use]
    pub fn needs_one(self, group: LimitGroup) -> Self {
        Self { needs: Needs::one(group), ..self }
    }

    /// Its first request takes these tokens.
    #[must_use]
    pub fn needs(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    /// How urgent it is.
    #[must_use]
    pub fn class(self, class: Class) -> Self {
        Self { class, ..self }
    }

    /// Not before this moment.
    #[must_use]
    pub fn run_at(self, run_at: UnixMillis) -> Self {
        Self { run_at, ..self }
    }

    /// Most attempts.
    #[must_use]
    pub fn attempts_max(self, attempts_max: u32) -> Self {
        Self { attempts_max, ..self }
    }

    /// Only one live job has this key.
    #[must_use]
    pub fn unique_key(self, key: impl Into<Arc<str>>) -> Self {
        Self { unique_key: Some(key.into()), ..self }
    }

    /// It belongs to this run.
    #[must_use]
    pub fn run(self, run: RunId) -> Self {
        Self { run: Some(run), ..self }
    }

    /// Checks what can be checked without a store. Stores call it before they take a job.
    ///
    /// # Errors
    /// [`NewJobError`] for arguments that are no JSON, too large or too deep, a bad unique key, or
    /// no attempts.
    pub fn check(&self) -> Result<(), NewJobError> {
        if self.args.len() > ARGS_BYTES_MAX {
            return Err(NewJobError::TooLarge { bytes: self.args.len() });
        }
        // Depth first: the JSON parser itself refuses to recurse beyond 128 levels, with a message
        // that speaks of its recursion limit and not of ours.
        if depth(&self.args) > ARGS_DEPTH_MAX {
            return Err(NewJobError::TooDeep);
        }
        serde_json::from_str::<&RawValue>(&self.args)?;
        if let Some(key) = &self.unique_key
            && !(1..=UNIQUE_KEY_BYTES_MAX).contains(&key.len())
        {
            return Err(NewJobError::UniqueKey { bytes: key.len() });
        }
        if self.attempts_max == 0 {
            return Err(NewJobError::NoAttempts);
        }
        Ok(())
    }
}

/// Deepest nesting of arrays and objects in a JSON text.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_args(args: &str) -> Result<(), NewJobError> {
        let now = UnixMillis(0);
        let job = NewJob::new("k", "a", &(), now).unwrap();
        NewJob { args: args.into(), ..job }.check()
    }

    #[test]
    fn arguments_are_bounded_in_size_and_depth() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(with_args(&nested(ARGS_DEPTH_MAX)).is_ok());
        assert!(matches!(with_args(&nested(ARGS_DEPTH_MAX + 1)), Err(NewJobError::TooDeep)));
        assert!(matches!(with_args(&nested(1_000)), Err(NewJobError::TooDeep)));
        let brackets_in_text = format!("\"{}\\\"{}\"", "[".repeat(99), "{".repeat(99));
        assert!(with_args(&brackets_in_text).is_ok());
        let large = format!("\"{}\"", "x".repeat(ARGS_BYTES_MAX));
        assert!(matches!(with_args(&large), Err(NewJobError::TooLarge { .. })));
    }

    #[test]
    fn arguments_that_are_no_json_are_refused() {
        for bad in ["", "{", "nul", "{\"a\":1}x", "\"a\0b\""] {
            assert!(matches!(with_args(bad), Err(NewJobError::NotJson(_))), "{bad:?}");
        }
        assert!(with_args("\"a\\u0000b\"").is_ok());
    }
}
