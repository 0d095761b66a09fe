//! What sellers sell, and where they ship it from and to. All names are made up or generic.

use crate::dice::{Dice, Topic};

/// Category and subject.
const SUBJECTS: [(&str, &str); 12] = [
    ("Бытовая техника", "Мультистайлеры"),
    ("Бытовая техника", "Чайники электрические"),
    ("Женщинам", "Платья"),
    ("Женщинам", "Блузки и рубашки"),
    ("Мужчинам", "Футболки"),
    ("Обувь", "Кроссовки"),
    ("Детям", "Комбинезоны"),
    ("Дом", "Постельное бельё"),
    ("Дом", "Фотоальбомы"),
    ("Красота", "Кремы \"для рук\""),
    ("Книги", "Художественная литература"),
    ("Спорт", "Коврики для йоги"),
];

const BRANDS: [&str; 8] =
    ["Тест", "Ромашка", "Северный Ветер", "Ёлка & Ко", "Wonderful", "Дом и Сад", "Лён", "Уют №1"];

const SIZES: [&str; 8] = ["0", "0", "0", "42", "44-46", "48", "S", "XL"];

/// Warehouse and its type.
pub(super) const WAREHOUSES: [(&str, &str); 6] = [
    ("Склад WB РФ", "Склад WB"),
    ("Коледино", "Склад WB"),
    ("Электросталь", "Склад WB"),
    ("Казань", "Склад WB"),
    ("Краснодар", "Склад WB"),
    ("Склад продавца", SELLERS_WAREHOUSE),
];

pub(super) const SELLERS_WAREHOUSE: &str = "Склад продавца";

/// Country, federal district and region. Abroad there is no federal district.
pub(super) const REGIONS: [(&str, &str, &str); 10] = [
    ("Россия", "Центральный федеральный округ", "Московская"),
    ("Россия", "Центральный федеральный округ", "Москва"),
    ("Россия", "Северо-Западный федеральный округ", "Санкт-Петербург"),
    ("Россия", "Приволжский федеральный округ", "Республика Татарстан"),
    ("Россия", "Южный федеральный округ", "Краснодарский край"),
    ("Россия", "Уральский федеральный округ", "Свердловская область"),
    ("Россия", "Сибирский федеральный округ", "Новосибирская область"),
    ("Россия", "Дальневосточный федеральный округ", "Приморский край"),
    ("Беларусь", "", "Минская область"),
    ("Казахстан", "", "Алматы"),
];

/// A thing in a seller's catalogue.
#[derive(Clone, Debug)]
pub(super) struct Product {
    pub(super) nm_id: u64,
    pub(super) supplier_article: String,
    pub(super) barcode: String,
    pub(super) category: &'static str,
    pub(super) subject: &'static str,
    pub(super) brand: &'static str,
    pub(super) tech_size: &'static str,
    pub(super) price_rubles: i64,
}

impl Product {
    /// One of the seller's few hundred products, drawn with `dice`.
    pub(super) fn draw(dice: &mut Dice, seed: u64, seller: u64) -> Self {
        let number = dice.below(300);
        let mut dice = Dice::of(seed, Topic::Product, &[seller, number]);
        let (category, subject) = dice.pick(&SUBJECTS);
        Self {
            nm_id: dice.within(1_000_000..=399_999_999),
            supplier_article: format!("{}/{number:03}", dice.within(1_000..=99_999)),
            barcode: format!("20{:011}", dice.below(100_000_000_000)),
            category,
            subject,
            brand: dice.pick(&BRANDS),
            tech_size: dice.pick(&SIZES),
            price_rubles: dice.within(190..=14_900) as i64,
        }
    }
}
