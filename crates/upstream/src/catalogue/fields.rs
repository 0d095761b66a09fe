//! Reading the tables of a file: what is missing, unknown or of the wrong type is noted, and the
//! reading goes on, so that one look at a file finds everything.

use std::{cell::RefCell, collections::HashSet, ops::Range};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{CatalogueError, error::Source};

/// What was found wrong in a file so far.
pub(super) struct Problems<'a> {
    source: Source<'a>,
    found: RefCell<Vec<CatalogueError>>,
    /// Place, field and problem of each.
    noted: RefCell<HashSet<(usize, String, String)>>,
}

impl<'a> Problems<'a> {
    pub(super) fn new(source: Source<'a>) -> Self {
        Self { source, found: RefCell::default(), noted: RefCell::default() }
    }

    pub(super) fn note(
        &self,
        span: Range<usize>,
        field: impl Into<String>,
        problem: impl Into<String>,
    ) {
        let (field, problem) = (field.into(), problem.into());
        // A value that is looked at twice is wrong once.
        if self.noted.borrow_mut().insert((span.start, field.clone(), problem.clone())) {
            self.found.borrow_mut().push(self.source.error(span, field, problem));
        }
    }

    pub(super) fn into_found(self) -> Vec<CatalogueError> {
        self.found.into_inner()
    }
}

/// A value with its place in the file, and the field's name in error texts.
#[derive(Debug, Clone)]
pub(super) struct Value<T> {
    pub(super) is: T,
    pub(super) span: Range<usize>,
    pub(super) field: String,
}

impl<T> Value<T> {
    pub(super) fn wrong(&self, problems: &Problems<'_>, problem: impl Into<String>) {
        problems.note(self.span.clone(), self.field.clone(), problem);
    }

    /// The same place with what was made of the value.
    pub(super) fn with<U>(&self, is: U) -> Value<U> {
        Value { is, span: self.span.clone(), field: self.field.clone() }
    }
}

/// A table of the file.
pub(super) struct Fields<'p, 'a, 't> {
    pub(super) problems: &'p Problems<'a>,
    table: &'t DeTable<'t>,
    span: Range<usize>,
    /// What the table is, as `endpoint `orders``; empty for the file itself.
    place: String,
}

impl<'p, 'a, 't> Fields<'p, 'a, 't> {
    /// A table that may have the keys `known`; others are noted.
    pub(super) fn new(
        problems: &'p Problems<'a>,
        table: &'t DeTable<'t>,
        span: Range<usize>,
        place: String,
        known: &[&str],
    ) -> Self {
        for key in table.keys() {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let all = known.join("`, `");
                let problem =
                    format!("unknown field `{}`, expected one of `{all}`", name.escape_debug());
                problems.note(key.span(), name.escape_debug().to_string(), problem);
            }
        }
        Self { problems, table, span, place }
    }

    fn field(&self, key: &str) -> String {
        if self.place.is_empty() { key.to_owned() } else { format!("{key} of {}", self.place) }
    }

    pub(super) fn note(&self, problem: impl Into<String>) {
        let place = if self.place.is_empty() { "the file" } else { &self.place };
        self.problems.note(self.span.clone(), place, problem);
    }

    fn get(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.table.get(key)
    }

    fn missing<T>(&self, key: &str) -> Option<T> {
        self.note(format!("missing field `{key}`"));
        None
    }

    fn read<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl FnOnce(&'t DeValue<'t>) -> Option<T>,
    ) -> Option<Value<T>> {
        let value = self.get(key)?;
        match read(value.get_ref()) {
            Some(is) => Some(Value { is, span: value.span(), field: self.field(key) }),
            None => {
                self.problems.note(value.span(), self.field(key), wrong_type(value, expected));
                None
            }
        }
    }

    pub(super) fn text(&self, key: &str) -> Option<Value<String>> {
        self.read(key, "a text", |value| value.as_str().map(str::to_owned))
    }

    pub(super) fn need_text(&self, key: &str) -> Option<Value<String>> {
        if self.get(key).is_some() { self.text(key) } else { self.missing(key) }
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        self.read(key, "true or false", DeValue::as_bool).map(|flag| flag.is)
    }

    pub(super) fn need_flag(&self, key: &str) -> Option<bool> {
        if self.get(key).is_some() { self.flag(key) } else { self.missing(key) }
    }

    /// A whole number from 1 on.
    pub(super) fn number(&self, key: &str) -> Option<Value<u32>> {
        let number = self.read(key, "a whole number", |value| {
            let integer = value.as_integer()?;
            Some(u32::from_str_radix(integer.as_str(), integer.radix()))
        })?;
        match &number.is {
            Ok(0) => number.wrong(self.problems, "must be at least 1"),
            Err(_) => number.wrong(self.problems, "must be a whole number from 1 to 2^32 - 1"),
            Ok(_) => {}
        }
        Some(number.with(number.is.clone().ok().filter(|number| *number > 0)?))
    }

    pub(super) fn need_number(&self, key: &str) -> Option<Value<u32>> {
        if self.get(key).is_some() { self.number(key) } else { self.missing(key) }
    }

    /// A day without a time, as text.
    pub(super) fn day(&self, key: &str) -> Option<Value<String>> {
        let date = self.read(key, "a day such as 2026-10-01", |value| value.as_datetime())?;
        if date.is.date.is_none() || date.is.time.is_some() {
            date.wrong(self.problems, "a day such as 2026-10-01 is expected");
            return None;
        }
        Some(date.with(date.is.to_string()))
    }

    pub(super) fn need_day(&self, key: &str) -> Option<Value<String>> {
        if self.get(key).is_some() { self.day(key) } else { self.missing(key) }
    }

    pub(super) fn texts(&self, key: &str) -> Option<Value<Vec<Value<String>>>> {
        let array = self.read(key, "a list of texts", DeValue::as_array)?;
        let texts = array.is.iter().filter_map(|item| match item.get_ref().as_str() {
            Some(text) => {
                Some(Value { is: text.to_owned(), span: item.span(), field: array.field.clone() })
            }
            None => {
                let problem = wrong_type(item, "a text");
                self.problems.note(item.span(), array.field.clone(), problem);
                None
            }
        });
        Some(array.with(texts.collect()))
    }

    pub(super) fn need_texts(&self, key: &str) -> Option<Value<Vec<Value<String>>>> {
        if self.get(key).is_some() { self.texts(key) } else { self.missing(key) }
    }

    /// A table below this one.
    pub(super) fn table(&self, key: &str, known: &[&str]) -> Option<Fields<'p, 'a, 't>> {
        let table = self.read(key, "a table", DeValue::as_table)?;
        Some(Fields::new(self.problems, table.is, table.span, table.field, known))
    }

    pub(super) fn need_table(&self, key: &str, known: &[&str]) -> Option<Fields<'p, 'a, 't>> {
        if self.get(key).is_some() { self.table(key, known) } else { self.missing(key) }
    }

    /// The tables of a list, each called `what` and its name if it has one.
    pub(super) fn tables(&self, key: &str, what: &str, known: &[&str]) -> Vec<Fields<'p, 'a, 't>> {
        let Some(array) = self.read(key, "a list of tables", DeValue::as_array) else {
            return Vec::new();
        };
        let table = |item: &'t Spanned<DeValue<'t>>| {
            let Some(table) = item.get_ref().as_table() else {
                let problem = wrong_type(item, "a table");
                self.problems.note(item.span(), key, problem);
                return None;
            };
            let name = table.get("name").and_then(|name| name.get_ref().as_str());
            let place = match name {
                Some(name) => format!("{what} `{}`", name.escape_debug()),
                None => what.to_owned(),
            };
            Some(Fields::new(self.problems, table, item.span(), place, known))
        };
        array.is.iter().filter_map(table).collect()
    }

    /// The entries of a table whose keys are names of the file's own.
    pub(super) fn entries(&self, key: &str, known: &[&str]) -> Vec<(Value<String>, Self)> {
        let Some(table) = self.read(key, "a table", DeValue::as_table) else {
            return Vec::new();
        };
        let entry = |(name, value): (&'t Spanned<_>, &'t Spanned<DeValue<'t>>)| {
            let name = key_of(name, key);
            let place = format!("{key}.{}", name.is.escape_debug());
            let Some(entry) = value.get_ref().as_table() else {
                self.problems.note(value.span(), place, wrong_type(value, "a table"));
                return None;
            };
            let span = name.span.clone();
            Some((name, Fields::new(self.problems, entry, span, place, known)))
        };
        table.is.iter().filter_map(entry).collect()
    }

    /// The keys of a table whose keys are names of the file's own.
    pub(super) fn keys(&self, key: &str) -> Vec<Value<String>> {
        let table = self.read(key, "a table", DeValue::as_table);
        let keys = table.iter().flat_map(|table| table.is.keys());
        keys.map(|name| key_of(name, key)).collect()
    }

    /// The table itself with other keys allowed: those of the file's own.
    pub(super) fn open(&self, key: &str) -> Option<Fields<'p, 'a, 't>> {
        let table = self.get(key)?.get_ref().as_table()?;
        let known: Vec<&str> = table.keys().map(|key| key.get_ref().as_ref()).collect();
        self.table(key, &known)
    }

    /// A text, or a table of texts.
    pub(super) fn text_or_texts(&self, key: &str) -> Option<Texts> {
        let value = self.get(key)?;
        let field = self.field(key);
        if let Some(text) = value.get_ref().as_str() {
            return Some(Texts::One(Value { is: text.to_owned(), span: value.span(), field }));
        }
        let Some(table) = value.get_ref().as_table() else {
            let problem = wrong_type(value, "a text or a table of texts");
            self.problems.note(value.span(), field, problem);
            return None;
        };
        let mut texts = Vec::new();
        for (name, value) in table {
            match value.get_ref().as_str() {
                Some(text) => {
                    let text =
                        Value { is: text.to_owned(), span: value.span(), field: field.clone() };
                    texts.push((key_of(name, &field), text));
                }
                None => {
                    self.problems.note(value.span(), field.clone(), wrong_type(value, "a text"));
                }
            }
        }
        Some(Texts::Named(Value { is: texts, span: value.span(), field }))
    }
}

/// What [`Fields::text_or_texts`] found.
pub(super) enum Texts {
    One(Value<String>),
    Named(Value<Vec<(Value<String>, Value<String>)>>),
}

fn key_of(key: &Spanned<std::borrow::Cow<'_, str>>, field: &str) -> Value<String> {
    Value { is: key.get_ref().to_string(), span: key.span(), field: field.to_owned() }
}

fn wrong_type(value: &Spanned<DeValue<'_>>, expected: &str) -> String {
    format!("invalid type: {}, expected {expected}", value.get_ref().type_str())
}
