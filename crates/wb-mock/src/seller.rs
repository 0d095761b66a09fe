//! The sellers of a mock.

use serde::Serialize;

use crate::dice::{Dice, Topic};

const NAMES: [&str; 12] = [
    "ООО «Ромашка»",
    "ИП Смирнова А. В.",
    "ООО «Северный ветер»",
    "ИП Кузнецов Д. И.",
    "ООО «Лён и хлопок»",
    "ИП Попова Е. С.",
    "ООО «Дом и сад»",
    "ИП Соколов М. А.",
    "АО «Вектор»",
    "ИП Лебедева О. Н.",
    "ООО «Ёлка»",
    "ИП Новиков П. Р.",
];

/// A seller of the mock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Seller {
    /// Its place in [`Mock::sellers`](crate::Mock::sellers).
    pub index: usize,
    /// The seller's identifier in its tokens, a UUID. Buckets belong to it.
    pub sid: String,
    /// A name to show.
    pub name: String,
}

impl Seller {
    pub(crate) fn make(seed: u64, index: usize) -> Self {
        let mut dice = Dice::of(seed, Topic::Seller, &[index as u64]);
        let name = NAMES[index % NAMES.len()];
        let round = index / NAMES.len();
        Self {
            index,
            sid: dice.uuid(),
            name: if round == 0 { name.to_owned() } else { format!("{name} ({})", round + 1) },
        }
    }
}
