//! Running the program, and comparing what it says.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// What a run of the program came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().expect("the program ends by itself"),
            stdout: String::from_utf8(output.stdout).expect("it prints text"),
            stderr: String::from_utf8(output.stderr).expect("it prints text"),
        }
    }

    /// What it printed, after it ended well and without a complaint.
    pub(crate) fn text(&self) -> &str {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{}", self.stdout);
        &self.stdout
    }

    /// The same as JSON, without moments and spans.
    pub(crate) fn json(&self) -> Value {
        json(self.text())
    }
}

/// The program with arguments, and with nothing of this process's environment.
pub(crate) fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waitless"));
    command.args(args).env_clear().stdin(Stdio::null());
    command
}

/// Runs the program to its end.
pub(crate) fn waitless(args: &[&str]) -> Said {
    Said::of(program(args).output().expect("the program can be started"))
}

/// A JSON document in which moments and spans read `<ms>`.
pub(crate) fn json(text: &str) -> Value {
    let mut value = serde_json::from_str(text).expect("it is JSON");
    forget_times(&mut value);
    value
}

fn forget_times(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(forget_times),
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_time = ["_at", "_ms", "_until"].iter().any(|end| name.ends_with(end))
                    || name == "at"
                    || name == "until";
                if is_time && value.is_number() {
                    *value = Value::String("<ms>".into());
                }
                forget_times(value);
            }
        }
        _ => {}
    }
}

/// A text in which moments read `<time>` and spans `<span>`, columns are two blanks apart, and
/// the lines have no end of blanks. Begins with an end of line, as a text in a test does.
pub(crate) fn words(text: &str) -> String {
    let mut all = String::from("\n");
    for line in text.lines() {
        let mut words: Vec<String> = Vec::new();
        for word in line.split(' ') {
            let word = word_without_time(word);
            match words.last() {
                Some(last) if word.starts_with("<span>") && last == "<span>" => {
                    words.pop();
                }
                _ => {}
            }
            words.push(word);
        }
        let mut line = words.join(" ");
        while line.contains("   ") {
            line = line.replace("   ", "  ");
        }
        all.push_str(line.trim_end());
        all.push('\n');
    }
    all
}

fn word_without_time(word: &str) -> String {
    let bare = word.trim_matches(['(', ')', ',', ':', ';']);
    let is_moment = bare.len() == 20 && bare.ends_with('Z') && bare.as_bytes()[10] == b'T';
    let is_span = bare.strip_suffix(['s', 'm', 'h', 'd']).is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    });
    match (is_moment, is_span) {
        (true, _) => word.replace(bare, "<time>"),
        (_, true) => word.replace(bare, "<span>"),
        _ => word.to_owned(),
    }
}
