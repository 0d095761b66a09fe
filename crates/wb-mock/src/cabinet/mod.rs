//! A seller's cabinet: every dataset but orders and sales.
//!
//! Nothing of it is kept but its sizes and what clients have ordered: rows are drawn when they are
//! asked for. One file has the rows and the methods of one dataset.

mod acceptance;
mod campaign_stats;
mod campaigns;
mod cards;
mod csv;
mod fbs_orders;
mod feedbacks;
mod finance;
mod funnel;
mod goods;
mod history;
mod owner;
mod period;
mod prices;
mod question;
mod refusal;
mod remains;
mod reports;
mod row;
mod stocks;
mod storage;
mod tariffs;
mod tasks;
mod visits;
mod windows;

use std::ops::RangeInclusive;
use std::sync::Arc;

use chrono::SubsecRound;

use self::acceptance::Acceptance;
use self::campaign_stats::CampaignStats;
use self::campaigns::Campaigns;
use self::cards::Cards;
use self::fbs_orders::FbsOrders;
use self::feedbacks::Feedbacks;
use self::finance::Finance;
use self::funnel::Funnel;
use self::goods::Goods;
use self::history::History;
use self::owner::{Owner, Subject};
use self::prices::Prices;
use self::remains::Remains;
use self::reports::Reports;
use self::stocks::Stocks;
use self::storage::Storage;
use self::tariffs::Tariffs;
use self::visits::Visits;
use self::windows::WindowReport;
use crate::drawer::Drawer;
use crate::{Dataset, MockConfig};

/// The drawer of a dataset that is neither orders nor sales.
///
/// # Panics
///
/// If it is one of them.
pub(crate) fn drawer(config: &MockConfig, seller: usize, dataset: Dataset) -> Arc<dyn Drawer> {
    let owner = Owner {
        seed: config.seed,
        seller: seller as u64,
        started: config.now.trunc_subsecs(0),
        speed: config.speed,
    };
    let sizes = &config.cabinet;
    let size = |number, range: &RangeInclusive<u64>| {
        owner.dice(Subject::Size, [number, 0]).within(range.clone())
    };
    let goods = Goods { owner, count: size(0, &sizes.products) };
    let campaigns = Campaigns { owner, count: size(1, &sizes.campaigns) };
    let stocks = Stocks { goods };
    let visits = Visits { goods };
    match dataset {
        Dataset::Stocks => Arc::new(stocks),
        Dataset::Remains => Arc::new(Remains::new(stocks)),
        Dataset::Acceptance => Arc::new(WindowReport::new(Acceptance { goods })),
        Dataset::Storage => Arc::new(WindowReport::new(Storage { stocks })),
        Dataset::Funnel => Arc::new(Funnel { visits }),
        Dataset::FunnelHistory => Arc::new(History { visits }),
        Dataset::FunnelCsv => Arc::new(Reports::new(visits)),
        Dataset::Cards => Arc::new(Cards::new(goods, config.late_updates)),
        Dataset::Finance => Arc::new(Finance { goods, count: size(2, &sizes.finance_rows) }),
        Dataset::Prices => Arc::new(Prices { goods }),
        Dataset::FbsOrders => Arc::new(FbsOrders { goods, count: size(3, &sizes.fbs_orders) }),
        Dataset::Campaigns => Arc::new(campaigns),
        Dataset::CampaignStats => Arc::new(CampaignStats { campaigns, goods }),
        Dataset::Feedbacks => Arc::new(Feedbacks { goods, count: size(4, &sizes.feedbacks) }),
        Dataset::Tariffs => Arc::new(Tariffs { owner }),
        Dataset::Orders | Dataset::Sales => panic!("{dataset} are not in the cabinet"),
    }
}
