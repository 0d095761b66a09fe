//! The rules of the tree: which crate may see which, and that nothing lies about unused.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Arrows between our crates, in the order of `docs/ARCHITECTURE.md`: each may see those named.
const ARROWS: &[(&str, &[&str])] = &[
    ("bucket", &[]),
    ("job", &["bucket"]),
    ("store", &["bucket", "job"]),
    ("sink", &[]),
    ("upstream", &["bucket", "job"]),
    ("store-sqlite", &["bucket", "job", "store"]),
    ("scheduler", &["bucket", "job", "store"]),
    ("worker", &["job", "scheduler", "store"]),
    ("wb", &["job", "sink", "upstream"]),
    ("wb-mock", &[]),
    ("simulate", &["bucket", "job", "store", "worker"]),
    (
        "cli",
        &[
            "bucket",
            "job",
            "scheduler",
            "simulate",
            "sink",
            "store",
            "store-sqlite",
            "upstream",
            "wb",
            "wb-mock",
            "worker",
        ],
    ),
];

/// Heavy dependencies, each with the crates that may name it.
const HEAVY: &[(&str, &[&str])] = &[
    ("apalis-core", &["worker"]),
    ("axum", &["wb-mock"]),
    ("clap", &["cli"]),
    ("indicatif", &["cli"]),
    ("reqwest", &["upstream"]),
    ("rusqlite", &["sink", "store-sqlite"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the root").to_owned()
}

/// Every file below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.sort();
    paths
        .into_iter()
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect()
}

fn with_ending(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = files(folder);
    found.retain(|path| path.extension().is_some_and(|extension| extension == ending));
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The folders of `crates/` with what each depends on, tests aside.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let crates = root().join("crates");
    let folders = fs::read_dir(&crates).expect("there are crates");
    folders
        .map(|folder| {
            let folder = folder.expect("the folder can be read").path();
            let manifest: toml::Table =
                read(&folder.join("Cargo.toml")).parse().expect("a manifest is TOML");
            let named = manifest.get("dependencies").and_then(|named| named.as_table());
            let named = named.map(|named| named.keys().cloned().collect()).unwrap_or_default();
            let name = folder.file_name().expect("a folder has a name");
            (name.to_string_lossy().into_owned(), named)
        })
        .collect()
}

#[test]
fn crates_see_only_the_crates_below_them() {
    let allowed: BTreeMap<&str, BTreeSet<&str>> =
        ARROWS.iter().map(|(from, to)| (*from, to.iter().copied().collect())).collect();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, named) in dependencies() {
        let ours = named.iter().filter_map(|one| one.strip_prefix("waitless-"));
        found.insert(name, ours.map(str::to_owned).collect());
    }
    for (name, ours) in &found {
        let may = allowed.get(name.as_str());
        let may = may.unwrap_or_else(|| panic!("crate `{name}` has no row in the table of arrows"));
        assert!(
            ours.iter().all(|one| may.contains(one.as_str())),
            "crate `{name}` sees {ours:?}, the table of arrows allows {may:?}"
        );
        let unused: Vec<_> = may.iter().filter(|one| !ours.contains(**one)).collect();
        assert!(unused.is_empty(), "crate `{name}` does not see {unused:?}: take the arrows out");
    }
    // A crate stands below all that may see it, so the arrows point down and make no circle.
    let order: Vec<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    for (index, (name, to)) in ARROWS.iter().enumerate() {
        for one in *to {
            let place = order.iter().position(|other| other == one);
            assert!(place.is_some_and(|place| place < index), "`{name}` sees `{one}` above it");
        }
    }
    assert_eq!(found.len(), ARROWS.len(), "the table of arrows names a crate that is gone");
}

#[test]
fn a_heavy_dependency_stands_in_its_crate_only() {
    for (name, named) in dependencies() {
        for (heavy, may) in HEAVY {
            assert!(
                !named.contains(*heavy) || may.contains(&name.as_str()),
                "crate `{name}` names {heavy}, which belongs to {may:?}"
            );
        }
    }
}

/// The crates with SQL, and the folder of migrations that each brings its schema from.
const SCHEMAS: &[(&str, &str)] = &[("sink", "sink-sqlite"), ("store-sqlite", "store-sqlite")];

#[test]
fn every_query_prepares_on_a_fresh_schema_and_is_used() {
    let mut prepared = 0;
    for (name, migrations) in SCHEMAS {
        let database = rusqlite::Connection::open_in_memory().expect("memory is there");
        for migration in with_ending(&root().join("migrations").join(migrations), "sql") {
            database
                .execute_batch(&read(&migration))
                .unwrap_or_else(|error| panic!("{} does not apply: {error}", migration.display()));
        }
        let sources = root().join("crates").join(name).join("src");
        let code: String = with_ending(&sources, "rs").iter().map(|path| read(path)).collect();
        for query in with_ending(&sources.join("queries"), "sql") {
            let shown = query.display();
            database
                .prepare(&read(&query))
                .unwrap_or_else(|error| panic!("{shown} does not prepare: {error}"));
            let file = query.file_stem().expect("a query has a name").to_string_lossy();
            // Each becomes a constant of its name, which somebody but its declaration names.
            let constant = file.to_uppercase();
            let named = code
                .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .filter(|word| *word == constant);
            assert!(named.count() >= 2, "{shown} is used by nobody: delete it");
            prepared += 1;
        }
    }
    assert!(prepared > 20, "only {prepared} queries were found");
}

#[test]
fn every_folder_of_migrations_and_every_script_is_used() {
    let code: String = files(&root().join("crates"))
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| read(path))
        .collect();
    let migrations = root().join("migrations");
    for file in files(&migrations) {
        let folder = file.parent().and_then(Path::file_name).expect("migrations lie in folders");
        let folder = folder.to_string_lossy();
        assert!(
            code.contains(&format!("migrations/{folder}")),
            "no crate embeds {}: delete it",
            file.display()
        );
    }
    for script in files(&root().join("lua")) {
        let name = script.file_name().expect("a script has a name").to_string_lossy();
        assert!(code.contains(&*name), "no crate includes {}: delete it", script.display());
    }
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    for folder in fs::read_dir(root().join("crates")).expect("there are crates") {
        let manifest = folder.expect("the folder can be read").path().join("Cargo.toml");
        let text = read(&manifest);
        assert!(text.contains("[lints]\nworkspace = true"), "{}", manifest.display());
    }
}
