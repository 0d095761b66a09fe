use waitless_simulate::{Scenario, ScenarioError};

const HEAD: &str = "slots = 5\nlatency_ms = [300, 2000]\n";

fn accounts(lines: &str) -> String {
    format!("{HEAD}\n[[accounts]]\nname = \"seller\"\n{lines}\n")
}

fn backlog(lines: &str) -> String {
    accounts(&format!("[[accounts.backlog]]\n{lines}"))
}

const ORDERS: &str = "[[accounts.backlog]]\ngroup = \"orders\"\nlimit = \"1/min\"\nrequests = 3\n";

#[test]
fn a_text_that_is_no_scenario_is_refused_with_its_line_and_field() {
    for (text, says) in [
        (String::new(), &["missing field `slots`"][..]),
        ("slots = ".into(), &["line 1"]),
        (HEAD.into(), &["missing field `accounts`"]),
        (format!("colour = 1\n{}", accounts(ORDERS)), &["line 1", "`colour`"]),
        (accounts("backlog = []\nsize = 1"), &["line 7", "`size`"]),
        (accounts(""), &["line 4", "missing field `backlog`"]),
        (accounts("backlog = 3"), &["line 6", "backlog = 3"]),
        ("slots = -1\n".into(), &["line 1", "-1"]),
        ("slots = \"many\"\n".into(), &["line 1", "string \"many\""]),
        ("slots = 1\nlatency_ms = [1]\n".into(), &["line 2", "latency_ms"]),
        ("slots = 1\nlatency_ms = [-1, 1]\n".into(), &["line 2", "-1"]),
        (
            backlog("group = \"o/r\"\nlimit = \"1/min\"\nrequests = 3"),
            &["line 7", "limit group `o/r`"],
        ),
        (
            backlog("group = \"orders\"\nlimit = \"often\"\nrequests = 3"),
            &["line 8", "`often` is not a limit", "1/min"],
        ),
        (
            backlog("group = \"orders\"\nlimit = \"0/min\"\nrequests = 3"),
            &["line 8", "tokens must be at least 1"],
        ),
        (backlog("group = \"orders\"\nlimit = \"1/min\""), &["line 6", "missing field `requests`"]),
        (
            backlog("group = \"orders\"\nlimit = \"1/min\"\nrequests = 3\ncost = 2"),
            &["line 10", "`cost`"],
        ),
    ] {
        let error = Scenario::parse(&text, "mine.toml").expect_err(&text);
        assert!(matches!(error, ScenarioError::Parse { .. }), "{text}: {error:?}");
        let message = error.to_string();
        let missing = ["mine.toml is not a scenario"].iter().chain(says);
        let missing: Vec<_> = missing.filter(|part| !message.contains(**part)).collect();
        assert!(missing.is_empty(), "{missing:?} is not said of\n{text}\nbut:\n{message}");
    }
}

#[test]
fn a_scenario_that_makes_no_sense_is_refused_with_what_to_change() {
    let accounts_of = |count: &str| accounts(&format!("count = {count}\n{ORDERS}"));
    for (text, says) in [
        (accounts(ORDERS).replace("slots = 5", "slots = 0"), "slots must be at least 1"),
        (
            accounts(ORDERS).replace("300, 2000", "2000, 300"),
            "latency_ms goes from 2000 down to 300: swap them",
        ),
        (format!("{HEAD}accounts = []"), "there is nothing to do: give an account a backlog"),
        (accounts("backlog = []"), "there is nothing to do: give an account a backlog"),
        (accounts_of("0"), "there is nothing to do: give an account a backlog"),
        (
            accounts(&ORDERS.replace("requests = 3", "requests = 0")),
            "there is nothing to do: give an account a backlog",
        ),
        (
            format!("{}[[accounts]]\nname = \"idle\"\nbacklog = []\n", accounts(ORDERS)),
            "accounts `idle` have nothing to do: give them a count and a backlog",
        ),
        (accounts_of("1666667"), "it has 5000001 requests, the most is 5000000"),
        // Nobody names so many accounts to find out that they are too many.
        (
            accounts_of("9000000000000000000"),
            "it has 18446744073709551615 requests, the most is 5000000",
        ),
        (
            accounts(&format!("{ORDERS}{ORDERS}")),
            "accounts `seller` have two backlogs for group `orders`: add them up",
        ),
        (
            format!("{}[[accounts]]\nname = \"seller\"\n{ORDERS}", accounts(ORDERS)),
            "accounts `seller` come twice: they would share their buckets",
        ),
        (
            accounts(&format!("{ORDERS}truth = {{ rate_percent = 0 }}\n")),
            "accounts `seller` would wait for group `orders` for ever: rate_percent must be at least 1",
        ),
        (
            accounts(ORDERS).replace("\"seller\"", "\"a seller\""),
            "account `a seller` is not a name: use 1 to 64 of the characters A-Z a-z 0-9 . _ -",
        ),
    ] {
        let error = Scenario::parse(&text, "mine.toml").expect_err(&text);
        assert!(matches!(error, ScenarioError::Nonsense { .. }), "{text}: {error:?}");
        assert_eq!(error.to_string(), format!("mine.toml cannot be simulated: {says}"), "{text}");
    }
}

#[test]
fn a_scenario_of_no_known_name_is_looked_for_as_a_file() {
    let error = Scenario::load("nowhere/mine.toml").expect_err("there is no such file");
    assert!(matches!(error, ScenarioError::Read { .. }), "{error:?}");
    assert!(error.to_string().starts_with("cannot read scenario nowhere/mine.toml: "), "{error}");
}

#[test]
fn the_built_in_scenarios_are_as_large_as_their_names_say() {
    let sizes = Scenario::BUILT_IN.map(|(name, _)| {
        let scenario = Scenario::load(name).expect("it is built in");
        (name, scenario.accounts[0].count, scenario.requests(), scenario.bound_ms())
    });
    assert_eq!(
        sizes,
        [("sellers-200", 200, 31_000, 59 * 60_000), ("import-1000", 1_000, 600_000, 299 * 60_000)]
    );
}
