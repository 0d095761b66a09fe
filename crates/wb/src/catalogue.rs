use std::sync::LazyLock;

use waitless_upstream::{Catalogue, CatalogueFile};

/// The file behind [`catalogue`].
pub const CATALOGUE_FILE: CatalogueFile = CatalogueFile {
    upstream: "wildberries",
    file: "wildberries-2026-10.toml",
    text: include_str!("../catalogue/wildberries-2026-10.toml"),
};

/// The limits and endpoints that ship with this version: every operation of the seller API. A newer
/// file can be read with [`Catalogue::read`] instead.
///
/// The text is read once in a process. An account needs the buckets of what it asks, which
/// [`Catalogue::limits_of`] has, and not those of all operations.
///
/// ```
/// let catalogue = waitless_wb::catalogue();
/// assert_eq!((catalogue.upstream(), catalogue.facts_as_of()), ("wildberries", "2026-10-01"));
///
/// let shown = |family: &str| -> Vec<String> {
///     let account = "seller-1".parse().unwrap();
///     let limits = catalogue.limits_of(&account, family, ["orders", "sales"]).unwrap();
///     limits.into_iter().map(|(bucket, policy)| format!("{} {policy}", bucket.group)).collect()
/// };
/// for family in ["personal", "service", "base-secret"] {
///     assert_eq!(shown(family), ["orders 1/min burst 10 margin 60ms", "sales 1/min burst 1 margin 60ms"]);
/// }
/// assert_eq!(shown("base"), ["orders 1/3h burst 1 margin 60ms", "sales 1/2h burst 1 margin 60ms"]);
/// ```
#[must_use]
pub fn catalogue() -> Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
        CATALOGUE_FILE.catalogue().expect("the file that ships with this version is tested")
    });
    CATALOGUE.clone()
}
