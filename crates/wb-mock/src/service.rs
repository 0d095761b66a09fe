//! The services of the upstream: what their methods have in common.

/// Part of the upstream that a token may or may not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Category {
    /// Product cards.
    Content = 1,
    /// Reports about products.
    Analytics = 2,
    /// Prices and discounts.
    Prices = 3,
    /// Orders that sellers ship themselves.
    Marketplace = 4,
    /// Orders and sales.
    Statistics = 5,
    /// Advertising.
    Promotion = 6,
    /// Feedbacks and questions.
    Feedbacks = 7,
    /// Finance reports.
    Finance = 13,
}

impl Category {
    /// Every category that the mock has methods of.
    pub const ALL: [Self; 8] = [
        Self::Content,
        Self::Analytics,
        Self::Prices,
        Self::Marketplace,
        Self::Statistics,
        Self::Promotion,
        Self::Feedbacks,
        Self::Finance,
    ];

    /// The name in paths under `/_mock`: `content`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Analytics => "analytics",
            Self::Prices => "prices",
            Self::Marketplace => "marketplace",
            Self::Statistics => "statistics",
            Self::Promotion => "promotion",
            Self::Feedbacks => "feedbacks",
            Self::Finance => "finance",
        }
    }

    /// The category of that [`name`](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.name() == name)
    }

    /// Its bit in the claim `s` of a token. The documentation numbers positions from 1 and real
    /// tokens with everything hold 16126, so position `n` is the bit of value 2^n.
    #[must_use]
    pub const fn bit(self) -> u64 {
        1 << self as u8
    }
}

/// Which gateway stands in front of a service: they differ in how they refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gateway {
    /// The older one: 429 with a `code`, and 401 for a category that the token does not open.
    Old,
    /// The newer one, since September 2026: 429 without a `code`, and 403 for such a category.
    New,
}

/// The shape of a service's own error answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorShape {
    /// `{"errors": ..}`, as the statistics service has.
    Errors,
    /// `{"title", "detail", "requestId", "origin"}`.
    Title,
    /// `{"code", "message"}`.
    Code,
    /// `{"data": null, "error": true, "errorText"}`.
    ErrorText,
    /// The same with `additionalErrors`.
    AdditionalErrors,
}

/// A service of the upstream. All are behind one base URL here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// What a token must open; none if any token will do.
    pub category: Option<Category>,
    /// Which gateway answers in its place.
    pub gateway: Gateway,
    /// Who signs its refusals (`origin`).
    pub origin: &'static str,
    /// The shape of its errors.
    pub errors: ErrorShape,
    /// What a request costs in all that was admitted and answered with 4XX.
    pub cost_of_4xx: u64,
}

pub(crate) const STATISTICS: Service = Service {
    category: Some(Category::Statistics),
    gateway: Gateway::New,
    origin: "ag-statistics",
    errors: ErrorShape::Errors,
    cost_of_4xx: 1,
};

pub(crate) const ANALYTICS: Service = Service {
    category: Some(Category::Analytics),
    gateway: Gateway::Old,
    origin: "analytics-open-api",
    errors: ErrorShape::Title,
    cost_of_4xx: 1,
};

pub(crate) const CONTENT: Service = Service {
    category: Some(Category::Content),
    gateway: Gateway::Old,
    origin: "s2s-content",
    errors: ErrorShape::AdditionalErrors,
    cost_of_4xx: 1,
};

pub(crate) const FINANCE: Service = Service {
    category: Some(Category::Finance),
    gateway: Gateway::New,
    origin: "ag-finance",
    errors: ErrorShape::Title,
    cost_of_4xx: 1,
};

pub(crate) const PRICES: Service = Service {
    category: Some(Category::Prices),
    gateway: Gateway::Old,
    origin: "s2s-discounts-prices",
    errors: ErrorShape::ErrorText,
    cost_of_4xx: 1,
};

pub(crate) const MARKETPLACE: Service = Service {
    category: Some(Category::Marketplace),
    gateway: Gateway::Old,
    origin: "s2s-marketplace",
    errors: ErrorShape::Code,
    cost_of_4xx: 10,
};

pub(crate) const PROMOTION: Service = Service {
    category: Some(Category::Promotion),
    gateway: Gateway::New,
    origin: "ag-advert",
    errors: ErrorShape::Title,
    cost_of_4xx: 1,
};

pub(crate) const FEEDBACKS: Service = Service {
    category: Some(Category::Feedbacks),
    gateway: Gateway::Old,
    origin: "s2s-feedbacks",
    errors: ErrorShape::AdditionalErrors,
    cost_of_4xx: 1,
};

/// Tariffs and the health check, which need no category.
pub(crate) const COMMON: Service = Service {
    category: None,
    gateway: Gateway::Old,
    origin: "s2s-common",
    errors: ErrorShape::Title,
    cost_of_4xx: 1,
};
