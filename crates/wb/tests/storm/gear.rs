//! Clients that lose little time over a fault, and sellers with many small pages.

use waitless_upstream::{Catalogue, ClientConfig};
use waitless_wb::CATALOGUE_FILE;
use waitless_wb_mock::{CabinetSizes, DatasetSize, MockConfig, SellerSizes};
use waitless_worker::{Backoff, WorkerConfig};

use crate::fleet::Gear;

/// Times the published speed at which the client goes. What paces it then is the guard margin.
const SPEED: u32 = 12_000;

/// Guard margin in milliseconds.
const MARGIN_MS: u32 = 100;

/// The stand-in is so much faster than the client that no bucket of its own refuses anything: only
/// the faults do.
pub(crate) const UNLIMITED: u32 = 10 * SPEED;

/// Rows on a page of the datasets that are listed.
pub(crate) struct Pages {
    pub(crate) of_products: u32,
    pub(crate) of_rows: u32,
}

impl Pages {
    /// The built-in catalogue with pages of these sizes.
    pub(crate) fn catalogue(&self) -> Catalogue {
        let sizes = [
            ("content.cards.list", self.of_products),
            ("prices.goods.list", self.of_products),
            ("analytics.sales-funnel.products", self.of_products),
            ("analytics.stocks-report.wb-warehouses", self.of_products),
            ("finance.sales-reports.detailed", self.of_rows),
            ("marketplace.fbs.orders.list", self.of_rows),
            ("feedbacks.list", self.of_rows),
        ];
        let line = |line: &str| {
            let named = sizes.iter().find(|(name, _)| line.contains(&format!("name = \"{name}\"")));
            let Some((_, rows)) = named else { return line.to_owned() };
            let (before, after) = line.split_once("page_rows = ").expect("it is told in pages");
            let after = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
            format!("{before}page_rows = {rows}{after}")
        };
        let text = CATALOGUE_FILE.text.lines().map(line).collect::<Vec<_>>().join("\n");
        Catalogue::parse("small pages", &text).expect("a catalogue")
    }

    /// Gear that tries again at once, and waits no longer for an answer or for more of it than these
    /// milliseconds.
    pub(crate) fn quick(&self, slots: usize, patience_ms: u64) -> Gear {
        Gear {
            catalogue: self.catalogue().scaled(SPEED, MARGIN_MS).expect("limits"),
            client: ClientConfig {
                answer_timeout_ms: patience_ms,
                idle_timeout_ms: patience_ms,
                body_bytes_max: 1 << 20,
                ..ClientConfig::default()
            },
            worker: WorkerConfig {
                slots,
                backoff: Backoff { first_ms: 20, ms_max: 500 },
                ..WorkerConfig::default()
            },
        }
    }
}

/// Sellers with so many products, and so many rows of what is no list of products.
pub(crate) fn sellers(sellers: usize, products: u64, rows: u64) -> MockConfig {
    let size = DatasetSize::Rows(rows..=rows);
    MockConfig {
        speed: UNLIMITED,
        sellers,
        page_rows: 10,
        sizes: SellerSizes { orders: size.clone(), sales: size },
        cabinet: CabinetSizes {
            products: products..=products,
            campaigns: 12..=12,
            feedbacks: rows / 2..=rows / 2,
            fbs_orders: rows / 2..=rows / 2,
            finance_rows: rows / 2..=rows / 2,
        },
        late_updates: true,
        ..MockConfig::default()
    }
}
