use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::{Timestamp, Uuid};
use waitless_bucket::UnixMillis;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// A UUID of version 7 (RFC 9562): it sorts by the time it was made.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new id that sorts as made at `now`.
            #[must_use]
            pub fn new(now: UnixMillis) -> Self {
                Self(uuid_at(now))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                text.parse().map(Self)
            }
        }
    };
}

id! {
    /// Names a job. The client makes it, so that an enqueue whose answer was lost can be repeated.
    JobId
}
id! {
    /// Names a run: the jobs of one digitization.
    RunId
}
id! {
    /// Names one grant of a job to a worker. A report under another token changes nothing.
    LeaseToken
}

fn uuid_at(now: UnixMillis) -> Uuid {
    let ms = u64::try_from(now.0).unwrap_or(0);
    let nanos = u32::try_from(ms % 1_000).expect("below 1,000") * 1_000_000;
    Uuid::new_v7(Timestamp::from_unix(uuid::NoContext, ms / 1_000, nanos))
}
