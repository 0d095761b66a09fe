use waitless_upstream::Catalogue;

/// The limits and endpoints that ship with this version. A newer file can be read with
/// [`Catalogue::read`] instead.
///
/// ```
/// let catalogue = waitless_wb::catalogue();
/// assert_eq!((catalogue.upstream(), catalogue.facts_as_of()), ("wildberries", "2026-10-01"));
///
/// let shown = |family: &str| -> Vec<String> {
///     let limits = catalogue.limits(&"seller-1".parse().unwrap(), family).unwrap();
///     limits.into_iter().map(|(bucket, policy)| format!("{} {policy}", bucket.group)).collect()
/// };
/// for family in ["personal", "service", "base-secret"] {
///     assert_eq!(shown(family), ["orders 1/min burst 10 margin 60ms", "sales 1/min burst 1 margin 60ms"]);
/// }
/// assert_eq!(shown("base"), ["orders 1/3h burst 1 margin 60ms", "sales 1/2h burst 1 margin 60ms"]);
/// ```
#[must_use]
pub fn catalogue() -> Catalogue {
    const FILE: &str = "wildberries-2026-10.toml";
    let text = include_str!("../catalogue/wildberries-2026-10.toml");
    Catalogue::parse(FILE, text).expect("the file that ships with this version is tested")
}
