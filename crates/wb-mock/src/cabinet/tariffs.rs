//! Tariffs: five lists that are the same for every seller.

use chrono::Days;
use serde_json::{Value, json};

use super::goods::SUBJECTS;
use super::owner::{Owner, Subject, day_number, moscow_day};
use super::period::{self, Period, Reach};
use super::refusal::{Refusal, replied};
use super::row::keyed;
use super::stocks::WAREHOUSES;
use crate::ExpectedRow;
use crate::drawer::{Drawer, ExpectedRows, Question, Reply};
use crate::{Call, Dataset};

/// Tariffs may be asked for a day of so many before today, and of so many after it.
const DAYS_BEFORE: u64 = 365;

/// Coefficients are known for so many days, today's included.
const COEFFICIENT_DAYS: u64 = 14;

const BOX_TYPES: [(u64, &str); 3] = [(2, "Короба"), (5, "Монопаллеты"), (6, "Суперсейф")];

/// The tariffs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tariffs {
    pub(crate) owner: Owner,
}

impl Drawer for Tariffs {
    fn answer(&self, call: Call, question: &Question) -> Reply {
        replied(match call {
            Call::Commission => self.commission(question),
            Call::Coefficients => self.coefficients(question),
            call => self.of_warehouses(call, question),
        })
    }

    /// Of today. Keys begin with the name of their list.
    fn expected(&self) -> ExpectedRows {
        let listed = |list: &str, rows: Vec<Value>, key: &[&str]| -> Vec<ExpectedRow> {
            let in_list =
                |row: ExpectedRow| ExpectedRow { key: format!("{list}/{}", row.key), ..row };
            rows.iter().map(|row| in_list(keyed(row, key))).collect()
        };
        let by_name = ["warehouseName"];
        let all = [
            listed("commission", self.commission_rows(), &["subjectID"]),
            listed("box", self.warehouse_rows(Call::Box), &by_name),
            listed("pallet", self.warehouse_rows(Call::Pallet), &by_name),
            listed("return", self.warehouse_rows(Call::Return), &by_name),
            listed("acceptance", self.coefficient_rows(), &["date", "warehouseID", "boxTypeID"]),
        ];
        Box::new(all.into_iter().flatten())
    }

    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        [Call::Commission, Call::Box, Call::Pallet, Call::Return, Call::Coefficients]
            .map(|call| (Dataset::Tariffs, call, 1))
            .into()
    }
}

impl Tariffs {
    fn commission(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&["locale"])?;
        Ok(Reply::rows(r#"{"report":["#, self.commission_rows().into_iter(), "]}"))
    }

    fn of_warehouses(&self, call: Call, question: &Question) -> Result<Reply, Refusal> {
        question.only(&["date"])?;
        let day = period::date("date", question.required("date")?)?;
        let reach = Reach { days_max: 1, depth_days: DAYS_BEFORE };
        Period { first: day, last: day }.within(reach, moscow_day(question.now))?;
        // When the next tariffs begin and these end. The fields are named after the list.
        let (next, until) = (day + Days::new(9), day + Days::new(30));
        let (next, until) = match call {
            Call::Box => (format!(r#""dtNextBox":"{next}""#), format!(r#""dtTillMax":"{until}""#)),
            Call::Pallet => {
                (format!(r#""dtNextPallet":"{next}""#), format!(r#""dtTillMax":"{until}""#))
            }
            _ => (
                format!(r#""dtNextDeliveryDumpKgt":"{next}""#),
                format!(r#""dtNextDeliveryDumpSrg":"{until}""#),
            ),
        };
        let before = format!(r#"{{"response":{{"data":{{{next},{until},"warehouseList":["#);
        Ok(Reply::rows(before, self.warehouse_rows(call).into_iter(), "]}}}"))
    }

    /// A bare array.
    fn coefficients(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&["warehouseIDs"])?;
        let ids: Option<Vec<u64>> = question
            .query
            .get("warehouseIDs")
            .map(|text| text.split(',').map(str::parse).collect())
            .transpose()
            .map_err(|_| Refusal::bad("warehouseIDs: not a list of numbers"))?;
        let wanted = move |row: &Value| {
            ids.as_ref().is_none_or(|ids| ids.iter().any(|id| row["warehouseID"] == *id))
        };
        Ok(Reply::rows("[", self.coefficient_rows().into_iter().filter(wanted), "]"))
    }

    fn commission_rows(&self) -> Vec<Value> {
        let rows = SUBJECTS.iter().map(|(id, name, parent_id, parent)| {
            let mut dice = self.owner.common_dice(Subject::Tariff, [0, *id]);
            let mut percent = || dice.within(4..=60) as f64 / 2.0;
            json!({
                "kgvpMarketplace": percent(),
                "kgvpSupplier": percent(),
                "kgvpSupplierExpress": percent(),
                "paidStorageKgvp": percent(),
                "parentID": parent_id,
                "parentName": parent,
                "subjectID": id,
                "subjectName": name,
            })
        });
        rows.collect()
    }

    fn warehouse_rows(&self, call: Call) -> Vec<Value> {
        let rows = WAREHOUSES.iter().map(|(id, name, region)| {
            let mut dice = self.owner.common_dice(Subject::Tariff, [call as u64 + 1, *id]);
            // Numbers are texts with a comma, and a dash where there is none.
            let mut amount = || match dice.below(400) {
                0..20 => "-".to_owned(),
                tenths if tenths.is_multiple_of(10) => (tenths / 10).to_string(),
                tenths => format!("{},{}", tenths / 10, tenths % 10),
            };
            match call {
                Call::Box => json!({
                    "warehouseName": name,
                    "geoName": region,
                    "boxDeliveryBase": amount(),
                    "boxDeliveryCoefExpr": amount(),
                    "boxDeliveryLiter": amount(),
                    "boxStorageBase": amount(),
                    "boxStorageCoefExpr": amount(),
                    "boxStorageLiter": amount(),
                }),
                Call::Pallet => json!({
                    "warehouseName": name,
                    "palletDeliveryExpr": amount(),
                    "palletDeliveryValueBase": amount(),
                    "palletDeliveryValueLiter": amount(),
                    "palletStorageExpr": amount(),
                    "palletStorageValueExpr": amount(),
                }),
                _ => json!({
                    "warehouseName": name,
                    "deliveryDumpKgtOfficeBase": amount(),
                    "deliveryDumpKgtOfficeLiter": amount(),
                    "deliveryDumpKgtReturnExpr": amount(),
                    "deliveryDumpSrgOfficeExpr": amount(),
                    "deliveryDumpSrgReturnExpr": amount(),
                }),
            }
        });
        rows.collect()
    }

    fn coefficient_rows(&self) -> Vec<Value> {
        let mut rows = Vec::new();
        for day in self.owner.today().iter_days().take(COEFFICIENT_DAYS as usize) {
            for (warehouse_id, warehouse, _) in &WAREHOUSES[..3] {
                for (box_type_id, box_type) in BOX_TYPES {
                    let number = warehouse_id * 10 + box_type_id;
                    let numbers = [day_number(day), number];
                    let mut dice = self.owner.common_dice(Subject::Tariff, numbers);
                    // -1: not accepted on that day.
                    let coefficient = dice.within(0..=20) as i64 - 1;
                    rows.push(json!({
                        "date": format!("{day}T00:00:00Z"),
                        "coefficient": coefficient,
                        "warehouseID": warehouse_id,
                        "warehouseName": warehouse,
                        "allowUnload": coefficient >= 0,
                        "boxTypeName": box_type,
                        "boxTypeID": box_type_id,
                        "storageCoef": null,
                        "deliveryCoef": dice.within(80..=240).to_string(),
                        "deliveryBaseLiter": "48",
                        "deliveryAdditionalLiter": "11,2",
                        "storageBaseLiter": null,
                        "storageAdditionalLiter": null,
                        "isSortingCenter": dice.one_in(4),
                    }));
                }
            }
        }
        rows
    }
}
