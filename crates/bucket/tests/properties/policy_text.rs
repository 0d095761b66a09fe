use proptest::prelude::*;
use serde::{
    Deserialize,
    de::{IntoDeserializer, value},
};
use waitless_bucket::{DEFAULT_MARGIN_MS, Policy, PolicyError};

use crate::policies::{any_policy, official_and};

proptest! {
    #[test]
    fn a_policy_reads_back_as_it_was_written(policy in any_policy()) {
        assert_eq!(policy.to_string().parse(), Ok(policy));
    }

    #[test]
    fn no_text_makes_the_reader_panic(
        text in prop_oneof![
            ".*",
            "[0-9]{0,22}/[0-9]{0,22}(ms|s|min|h|d)( (burst|margin) [0-9]{0,22}(ms|s)?){0,3}",
        ],
    ) {
        match text.parse::<Policy>() {
            Ok(policy) => assert_eq!(policy.to_string().parse(), Ok(policy)),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn every_official_limit_reads_back_as_it_was_written() {
    for policy in official_and(&[]) {
        assert_eq!(policy.to_string().parse(), Ok(policy));
        let text = policy.to_string();
        let text: value::StrDeserializer<'_, value::Error> = text.as_str().into_deserializer();
        assert_eq!(Policy::deserialize(text), Ok(policy));
    }
}

#[test]
fn a_limit_is_written_in_its_largest_whole_unit() {
    for (text, tokens, interval_ms, burst, margin_ms, written) in [
        ("1/min", 1, 60_000, 1, DEFAULT_MARGIN_MS, "1/min burst 1 margin 60ms"),
        ("100/60s burst 5", 100, 60_000, 5, 60, "100/min burst 5 margin 60ms"),
        ("1/1min burst 10 margin 0", 1, 60_000, 10, 0, "1/min burst 10 margin 0ms"),
        ("3/20s burst 3 margin 1s", 3, 20_000, 3, 1_000, "3/20s burst 3 margin 1000ms"),
        ("4/15min", 4, 900_000, 4, 60, "4/15min burst 4 margin 60ms"),
        ("1/333ms margin 7ms burst 6", 1, 333, 6, 7, "1/333ms burst 6 margin 7ms"),
        (" 1/24h  burst\t1 ", 1, 86_400_000, 1, 60, "1/d burst 1 margin 60ms"),
        ("2/90min", 2, 5_400_000, 2, 60, "2/90min burst 2 margin 60ms"),
        ("5/h", 5, 3_600_000, 5, 60, "5/h burst 5 margin 60ms"),
    ] {
        let policy: Policy = text.parse().expect(text);
        assert_eq!(Policy::from_parts(tokens, interval_ms, burst, margin_ms), Ok(policy), "{text}");
        assert_eq!(policy.to_string(), written, "{text}");
    }
}

#[test]
fn malformed_text_is_refused_with_what_was_expected() {
    let interval = "the interval must be a number of ms, s, min, h or d";
    let burst = "burst must be a whole number below 2^32";
    let margin = "the margin must be a duration such as 60ms";
    for (text, said) in [
        ("", "it is empty"),
        ("   ", "it is empty"),
        ("fast", "expected TOKENS/INTERVAL"),
        ("1 /min", "expected TOKENS/INTERVAL"),
        ("/min", "tokens must be a whole number below 2^32"),
        ("-1/min", "tokens must be a whole number below 2^32"),
        ("1.5/min", "tokens must be a whole number below 2^32"),
        ("4294967296/min", "tokens must be a whole number below 2^32"),
        ("1/", interval),
        ("1/60", interval),
        ("1/week", interval),
        ("1/1.5s", interval),
        ("1/-1s", interval),
        ("1/1 min", interval),
        ("1/мин", interval),
        ("1/min/s", interval),
        ("1/99999999999999999999s", interval),
        ("1/18446744073709551615d", interval),
        ("1/min burst", "a value is missing at the end"),
        ("1/min burst ten", burst),
        ("1/min burst -1", burst),
        ("1/min margin 60", margin),
        ("1/min margin 50d", margin),
        ("1/min bursts 10", "after the rate only `burst N` and `margin T` may follow"),
        ("1/min, burst 10", interval),
    ] {
        let error = text.parse::<Policy>().expect_err(text);
        assert_eq!(
            error.to_string(),
            format!(
                "`{text}` is not a limit: {said}; write it like `1/min`, `3/20s burst 3` or \
                 `100/min burst 5 margin 60ms`"
            )
        );
    }
    let value: value::StrDeserializer<'_, value::Error> = "fast".into_deserializer();
    let error = Policy::deserialize(value).expect_err("not a limit").to_string();
    assert!(error.contains("expected TOKENS/INTERVAL"), "{error}");
}

#[test]
fn long_nonsense_is_quoted_in_part() {
    let error = "x".repeat(10_000).parse::<Policy>().expect_err("not a limit");
    assert!(error.to_string().len() < 250, "{error}");
}

#[test]
fn a_zero_that_would_never_grant_is_refused() {
    for (text, field) in [
        ("0/min", "tokens"),
        ("1/0s", "interval"),
        ("1/min burst 0", "burst"),
        ("0/0s burst 0", "tokens"),
    ] {
        assert_eq!(text.parse::<Policy>(), Err(PolicyError::Zero { field }), "{text}");
    }
    assert_eq!(PolicyError::Zero { field: "interval" }.to_string(), "interval must be at least 1");
}

#[test]
fn a_bucket_beyond_exact_doubles_is_refused() {
    let largest = Policy::from_parts(1, 1 << 51, 1, 0).expect("2^51 units exactly");
    assert_eq!(largest.time_to_full_ms(), 1 << 51);
    for (tokens, interval_ms, burst, margin_ms) in [
        (1, (1 << 51) + 1, 1, 0),
        (1, 1 << 50, 3, 0),
        (1, 1 << 51, 1, 1), // the margin stretches the unit
        (u32::MAX, 1, 1, u32::MAX),
        (1, u64::MAX, u32::MAX, 0),
    ] {
        assert_eq!(
            Policy::from_parts(tokens, interval_ms, burst, margin_ms),
            Err(PolicyError::TooLarge { burst, interval_ms })
        );
    }
    assert_eq!(
        "1/d burst 4294967295".parse::<Policy>().expect_err("too large").to_string(),
        "burst 4294967295 x interval 86400000 ms is too large: the product (with the margin) must \
         stay below 2^51"
    );
}
