use std::{borrow::Borrow, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize, de};

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} `{}` is not a name: use 1 to {NAME_BYTES_MAX} of the characters A-Z a-z 0-9 . _ -",
    text.escape_debug()
)]
pub struct NameError {
    /// What the name was to be for.
    pub what: &'static str,
    /// The text as it came, cut to 100 characters.
    pub text: String,
}

/// Longest name in bytes. Names become parts of keys, so their length and alphabet are bounded.
const NAME_BYTES_MAX: usize = 64;

fn check(what: &'static str, text: &str) -> Result<(), NameError> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    if (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(allowed) {
        Ok(())
    } else {
        Err(NameError { what, text: text.chars().take(100).collect() })
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks and takes a name.
            ///
            /// # Errors
            /// [`NameError`] unless it is 1 to 64 of the characters `A-Z a-z 0-9 . _ -`.
            pub fn new(text: impl AsRef<str>) -> Result<Self, NameError> {
                check($what, text.as_ref())?;
                Ok(Self(text.as_ref().into()))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(String::deserialize(deserializer)?).map_err(de::Error::custom)
            }
        }
    };
}

name! {
    /// One tenant's identity on an upstream (Wildberries: the seller id, not the token).
    AccountId, "account"
}
name! {
    /// A type of job; names the handler that runs it.
    Kind, "kind"
}
name! {
    /// The endpoints of an upstream that draw on one bucket.
    LimitGroup, "limit group"
}
name! {
    /// A worker process.
    WorkerName, "worker"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_plain() {
        for good in ["a", "orders", "acct-17", "wb.orders_v2", &"x".repeat(64)] {
            assert_eq!(AccountId::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "a b", "a/b", "a\0b", "имя", "a,b", "a|b", "a{b}", &"x".repeat(65)] {
            assert!(AccountId::new(bad).is_err(), "{bad:?}");
        }
    }
}
