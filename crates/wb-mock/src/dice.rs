//! Draws that are the same every time.

use std::ops::RangeInclusive;

/// What a draw is about. Two topics never share draws, whatever their numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Topic {
    Seller,
    Size,
    Layout,
    Page,
    Product,
    Purchase,
    Row,
    Late,
    Token,
    Network,
    RequestId,
    ClientSecret,
    Fault,
    Cabinet,
}

/// A short sequence of draws, fixed by a seed, a topic and some numbers.
///
/// Rows must be made at any index, in any order, without those before them: so each row begins a
/// sequence of its own and no generator is carried along. The steps are those of splitmix64, which
/// is small, and good enough where nobody attacks it.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn of(seed: u64, topic: Topic, numbers: &[u64]) -> Self {
        let start = mixed(seed ^ mixed(topic as u64 + 1));
        Self(numbers.iter().fold(start, |state, number| mixed(state ^ mixed(number + 1))))
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// A number in `0..limit`; `limit` is not 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        let wide = u128::from(self.roll()) * u128::from(limit);
        (wide >> 64) as u64
    }

    /// A number in `range`, which is not empty.
    pub(crate) fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        let span = range.end() - range.start();
        range.start() + self.below(span.saturating_add(1))
    }

    pub(crate) fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// 32 hexadecimal digits.
    pub(crate) fn hex(&mut self) -> String {
        format!("{:016x}{:016x}", self.roll(), self.roll())
    }

    /// A random (version 4) UUID.
    pub(crate) fn uuid(&mut self) -> String {
        let (high, low) = (self.roll(), self.roll());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0x0fff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff,
        )
    }
}

const fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_give_equal_draws_and_others_do_not() {
        let draw = |seed, topic, number| Dice::of(seed, topic, &[number]).roll();
        assert_eq!(draw(1, Topic::Row, 7), draw(1, Topic::Row, 7));
        assert_ne!(draw(1, Topic::Row, 7), draw(2, Topic::Row, 7));
        assert_ne!(draw(1, Topic::Row, 7), draw(1, Topic::Late, 7));
        assert_ne!(draw(1, Topic::Row, 7), draw(1, Topic::Row, 8));
    }

    #[test]
    fn within_reaches_both_ends_and_stays_inside() {
        let mut dice = Dice::of(1, Topic::Row, &[]);
        let mut seen = [false; 3];
        for _ in 0..100 {
            seen[dice.within(5..=7) as usize - 5] = true;
        }
        assert_eq!(seen, [true; 3]);
    }
}
