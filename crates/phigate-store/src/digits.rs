//! A number in decimal digits, without formatting: every request names counters that end in one.

/// The digits of a number.
pub(crate) struct Digits {
    digits: [u8; 10],
    start: usize,
}

impl Digits {
    /// Writes a number.
    pub(crate) fn of(mut number: u32) -> Self {
        let mut digits = [b'0'; 10];
        let mut start = digits.len() - 1;
        loop {
            digits[start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return Self { digits, start };
            }
            start -= 1;
        }
    }

    /// The number as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.digits[self.start..]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_they_are_formatted() {
        for number in [0, 7, 10, 59, 100, 4_294_967_290, u32::MAX] {
            assert_eq!(Digits::of(number).text(), number.to_string());
        }
    }
}
