//! What a seller sells. All names are made up or generic.

use super::owner::{Owner, Subject};

/// Subject, its id, its category and the category's id.
pub(crate) const SUBJECTS: [(u64, &str, u64, &str); 12] = [
    (2560, "Мультистайлеры", 657, "Бытовая техника"),
    (569, "Чайники электрические", 657, "Бытовая техника"),
    (69, "Платья", 306, "Женщинам"),
    (41, "Блузки и рубашки", 306, "Женщинам"),
    (192, "Футболки", 566, "Мужчинам"),
    (105, "Кроссовки", 629, "Обувь"),
    (10, "Комбинезоны", 479, "Детям"),
    (501, "Постельное бельё", 258, "Дом"),
    (3756, "Фотоальбомы", 258, "Дом"),
    (784, "Кремы \"для рук\"", 1271, "Красота"),
    (381, "Художественная литература", 519, "Книги"),
    (1429, "Коврики для йоги", 784, "Спорт"),
];

const BRANDS: [&str; 8] =
    ["Тест", "Ромашка", "Северный Ветер", "Ёлка & Ко", "Wonderful", "Дом и Сад", "Лён", "Уют №1"];

const COLORS: [&str; 6] = ["белый", "чёрный", "синий", "прозрачный", "бежевый/серый", "хаки"];

const TECH_SIZES: [&str; 6] = ["42", "44-46", "48", "S", "XL", "52"];

const NM_ID_FIRST: u64 = 100_000_007;
const NM_ID_STEP: u64 = 1_000;

/// All goods of a seller, by number from 0. Their `nmID`s rise with the numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goods {
    pub(crate) owner: Owner,
    pub(crate) count: u64,
}

/// A thing that is sold.
#[derive(Clone, Debug)]
pub(crate) struct Good {
    pub(crate) number: u64,
    pub(crate) nm_id: u64,
    pub(crate) imt_id: u64,
    pub(crate) subject_id: u64,
    pub(crate) subject: &'static str,
    pub(crate) brand: &'static str,
    pub(crate) color: &'static str,
    pub(crate) vendor_code: String,
    pub(crate) title: String,
    /// In rubles, before discounts.
    pub(crate) price: u64,
    pub(crate) discount_percent: u64,
    /// In hundredths of a litre.
    pub(crate) volume: u64,
    /// At least one.
    pub(crate) sizes: Vec<GoodSize>,
}

/// One size of a thing.
#[derive(Clone, Debug)]
pub(crate) struct GoodSize {
    pub(crate) chrt_id: u64,
    /// `0` if the thing has but one size.
    pub(crate) tech_size: &'static str,
    pub(crate) barcode: String,
}

impl Good {
    /// Price with the seller's discount, in whole rubles.
    pub(crate) fn discounted(&self) -> u64 {
        self.price * (100 - self.discount_percent) / 100
    }
}

impl Goods {
    pub(crate) fn iter(self) -> impl Iterator<Item = Good> {
        (0..self.count).map(move |number| self.good(number))
    }

    /// One of the goods, for a drawn `number` of any size.
    pub(crate) fn any(&self, number: u64) -> Good {
        self.good(number % self.count.max(1))
    }

    /// The thing of that number. Every third number has the same `nmID` at all sellers, as when a
    /// card changed hands: nobody may take an `nmID` for one seller's.
    pub(crate) fn nm_id(&self, number: u64) -> u64 {
        let mut dice = if number.is_multiple_of(3) {
            self.owner.common_dice(Subject::NmId, [number, 0])
        } else {
            self.owner.dice(Subject::NmId, [number, 0])
        };
        NM_ID_FIRST + number * NM_ID_STEP + dice.below(NM_ID_STEP)
    }

    /// The number of the thing with that `nmID`.
    pub(crate) fn number_of(&self, nm_id: u64) -> Option<u64> {
        let number = nm_id.checked_sub(NM_ID_FIRST)? / NM_ID_STEP;
        (number < self.count && self.nm_id(number) == nm_id).then_some(number)
    }

    pub(crate) fn good(&self, number: u64) -> Good {
        let nm_id = self.nm_id(number);
        let mut dice = self.owner.dice(Subject::Good, [number, 0]);
        let (subject_id, subject, _, _) = dice.pick(&SUBJECTS);
        let brand = dice.pick(&BRANDS);
        let color = dice.pick(&COLORS);
        let sizes_count = if dice.one_in(3) { dice.within(2..=4) } else { 1 };
        Good {
            number,
            nm_id,
            imt_id: 50_000_000 + nm_id / 2,
            subject_id,
            subject,
            brand,
            color,
            vendor_code: format!("{}/{color}", dice.within(1_000..=99_999)),
            title: format!("{subject} {brand}, {color}"),
            price: dice.within(190..=14_900),
            discount_percent: dice.within(0..=60),
            volume: dice.within(5..=1_900),
            sizes: (0..sizes_count).map(|size| self.size(number, size, sizes_count)).collect(),
        }
    }

    fn size(&self, number: u64, size: u64, sizes_count: u64) -> GoodSize {
        let mut dice = self.owner.dice(Subject::GoodSize, [number, size]);
        let tech_size = if sizes_count == 1 { "0" } else { TECH_SIZES[size as usize] };
        GoodSize {
            chrt_id: 300_000_000 + number * 10 + size,
            tech_size,
            barcode: format!("20{:011}", dice.below(100_000_000_000)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::owner::tests::owner;
    use super::*;

    #[test]
    fn an_nm_id_finds_its_number_and_others_find_nothing() {
        let goods = Goods { owner: owner(0), count: 50 };
        for number in 0..50 {
            assert_eq!(goods.number_of(goods.nm_id(number)), Some(number));
            assert_eq!(goods.number_of(goods.nm_id(number) + 1_000_000), None);
        }
        assert_eq!(goods.number_of(goods.nm_id(50)), None, "there are only 50");
        assert_eq!(goods.number_of(1), None);
    }

    #[test]
    fn two_sellers_share_every_third_nm_id_and_no_other() {
        let [one, other] = [0, 1].map(|seller| Goods { owner: owner(seller), count: 30 });
        let shared = (0..30).filter(|number| one.nm_id(*number) == other.nm_id(*number));
        assert_eq!(shared.collect::<Vec<_>>(), (0..30).step_by(3).collect::<Vec<_>>());
    }
}
