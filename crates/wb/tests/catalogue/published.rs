//! The rows of the published limits.

/// The families of tokens.
const FAMILIES: [&str; 4] = ["personal", "service", "base-secret", "base"];

/// What is printed for an operation and a kind of token.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) category: String,
    method: String,
    host: String,
    pub(crate) path: String,
    tokens: String,
    interval: String,
    burst: String,
    scope: String,
    answer_cost: String,
    allowed: String,
    pub(crate) state: String,
    readonly: String,
    pub(crate) sandbox: bool,
    /// Milliseconds of a token, and burst, where the printed ones cannot be meant.
    pub(crate) chosen: Option<(u64, u32)>,
}

pub(crate) fn rows() -> Vec<Row> {
    let lines = include_str!("limits.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.map(row).collect()
}

fn row(line: &str) -> Row {
    let columns: Vec<&str> = line.split('\t').collect();
    let [
        category,
        method,
        host,
        path,
        tokens,
        interval,
        burst,
        scope,
        answer_cost,
        allowed,
        state,
        readonly,
        sandbox,
        chosen,
    ] = columns[..]
    else {
        panic!("not 14 columns: {line}");
    };
    let chosen = (chosen != "-").then(|| {
        let policy: waitless_job::Policy = chosen.parse().expect("it is a policy");
        (policy.interval_ms() / u64::from(policy.tokens()), policy.burst())
    });
    Row {
        category: category.to_owned(),
        method: method.to_owned(),
        host: host.to_owned(),
        path: path.to_owned(),
        tokens: tokens.to_owned(),
        interval: interval.to_owned(),
        burst: burst.to_owned(),
        scope: scope.to_owned(),
        answer_cost: answer_cost.to_owned(),
        allowed: allowed.to_owned(),
        state: state.to_owned(),
        readonly: readonly.to_owned(),
        sandbox: sandbox == "sandbox",
        chosen,
    }
}

/// `-` is nothing.
fn given(text: &str) -> Option<&str> {
    (text != "-").then_some(text)
}

impl Row {
    pub(crate) fn operation(&self) -> String {
        format!("{} https://{}.wildberries.ru{}", self.method, self.host, self.path)
    }

    /// The families that it speaks of.
    pub(crate) fn families(&self) -> Vec<&'static str> {
        let spoken_of = |family: &&str| match self.tokens.as_str() {
            "any" => true,
            "full" => *family != "base",
            "personal+service" => ["personal", "service"].contains(family),
            "base" => *family == "base",
            other => panic!("no kind of token: {other}"),
        };
        FAMILIES.into_iter().filter(spoken_of).collect()
    }

    pub(crate) fn lets_in(&self, family: &str) -> bool {
        given(&self.allowed).is_none_or(|allowed| allowed.split(',').any(|one| one == family))
    }

    pub(crate) fn chosen_or_printed(&self) -> (u64, u32) {
        self.chosen.unwrap_or_else(|| {
            let at = self.interval.find(|c: char| !c.is_ascii_digit()).expect("it has a unit");
            let number: u64 = self.interval[..at].parse().expect("it is a number");
            let unit_ms = match &self.interval[at..] {
                "ms" => 1,
                "s" => 1_000,
                "min" => 60_000,
                "h" => 3_600_000,
                other => panic!("no unit: {other}"),
            };
            (number * unit_ms, self.burst.parse().expect("it is a number"))
        })
    }

    /// The published group that it draws on.
    pub(crate) fn scope(&self) -> Option<&str> {
        given(&self.scope)
    }

    pub(crate) fn answer_cost(&self) -> Option<&str> {
        given(&self.answer_cost)
    }

    pub(crate) fn readonly(&self) -> Option<bool> {
        given(&self.readonly).map(|readonly| readonly == "yes")
    }
}
