use super::{Catalogue, CatalogueError};

/// A catalogue file that is part of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogueFile {
    /// The name of its upstream.
    pub upstream: &'static str,
    /// Its name in error texts.
    pub file: &'static str,
    /// What stands in it.
    pub text: &'static str,
}

impl CatalogueFile {
    /// Those of upstreams that have no connector of their own.
    ///
    /// ```
    /// use waitless_upstream::CatalogueFile;
    ///
    /// for file in CatalogueFile::WITHOUT_CONNECTOR {
    ///     assert_eq!(file.catalogue()?.upstream(), file.upstream);
    /// }
    /// # Ok::<(), waitless_upstream::CatalogueError>(())
    /// ```
    pub const WITHOUT_CONNECTOR: [Self; 2] = [
        Self {
            upstream: "amazon-sp-api",
            file: "amazon-sp-api-2026-08.toml",
            text: include_str!("../../catalogues/amazon-sp-api-2026-08.toml"),
        },
        Self {
            upstream: "shopify",
            file: "shopify-rest-2026-10.toml",
            text: include_str!("../../catalogues/shopify-rest-2026-10.toml"),
        },
    ];

    /// The catalogue in it.
    ///
    /// # Errors
    /// [`CatalogueError::Invalid`]; never for the files of this version, which tests have read.
    pub fn catalogue(&self) -> Result<Catalogue, CatalogueError> {
        Catalogue::parse(self.file, self.text)
    }
}
