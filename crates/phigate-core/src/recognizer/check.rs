//! Check characters of identifiers.

/// A rule that the characters of an identifier follow, so that most mistyped ones are noticed.
#[derive(Debug)]
pub struct Check {
    /// Code in definitions.
    pub code: &'static str,
    /// Whether a value follows the rule. Only its letters and digits count; for rules of digits alone, only its digits.
    pub(super) passes: fn(&str) -> bool,
}

/// Every rule.
pub static CHECKS: [Check; 7] = [
    // The first is the default.
    Check {
        code: "none",
        passes: |_| true,
    },
    Check {
        code: "luhn",
        passes: luhn,
    },
    Check {
        code: "mod11",
        passes: mod11,
    },
    Check {
        code: "nhs",
        passes: nhs,
    },
    Check {
        code: "mod97",
        passes: mod97,
    },
    Check {
        code: "verhoeff",
        passes: verhoeff,
    },
    Check {
        code: "iso7064",
        passes: iso7064,
    },
];

/// Weights of the National Health Service, for the nine digits before the check digit.
const NHS_WEIGHTS: std::ops::RangeInclusive<u32> = 2..=10;

/// Products of the dihedral group D5, for Verhoeff's method.
const VERHOEFF_PRODUCT: [[u8; 10]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
    [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
    [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
    [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
    [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
    [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
    [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
    [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
    [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
];

/// Permutations of digits by their place, for Verhoeff's method.
const VERHOEFF_PLACE: [[u8; 10]; 8] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
    [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
    [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
    [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
    [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
    [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
    [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
];

fn digits(value: &str) -> Vec<u32> {
    value
        .chars()
        .filter_map(|letter| letter.to_digit(10))
        .collect()
}

fn luhn(value: &str) -> bool {
    let digits = digits(value);
    let doubled = |(at, digit): (usize, &u32)| match at % 2 {
        0 => *digit,
        _ => digit * 2 / 10 + digit * 2 % 10,
    };
    let sum: u32 = digits.iter().rev().enumerate().map(doubled).sum();
    digits.len() >= 2 && sum.is_multiple_of(10)
}

/// The last character is the check digit, `X` for ten; the weights of the others are 2 to 7, over and over from the right.
fn mod11(value: &str) -> bool {
    let Some((check, digits)) = check_and_digits(value) else {
        return false;
    };
    let weights = (2..=7).cycle();
    let sum: u32 = digits.iter().rev().zip(weights).map(|(d, w)| d * w).sum();
    !digits.is_empty() && (sum + check).is_multiple_of(11)
}

fn nhs(value: &str) -> bool {
    let mut digits = digits(value);
    let (Some(check), 9) = (digits.pop(), digits.len()) else {
        return false;
    };
    let sum: u32 = digits
        .iter()
        .rev()
        .zip(NHS_WEIGHTS)
        .map(|(d, w)| d * w)
        .sum();
    (sum + check).is_multiple_of(11)
}

/// The remainder of a number by 97 is 1; letters count from 10 to 35.
fn mod97(value: &str) -> bool {
    let mut remainder = 0;
    let mut length = 0;
    for letter in value.chars().filter(char::is_ascii_alphanumeric) {
        let value = letter.to_digit(36).unwrap_or_default();
        let factor = if value < 10 { 10 } else { 100 };
        remainder = (remainder * factor + value) % 97;
        length += 1;
    }
    length >= 3 && remainder == 1
}

fn verhoeff(value: &str) -> bool {
    let digits = digits(value);
    let add = |sum: u8, (at, digit): (usize, &u32)| {
        let placed = VERHOEFF_PLACE[at % 8][*digit as usize];
        VERHOEFF_PRODUCT[usize::from(sum)][usize::from(placed)]
    };
    digits.len() >= 2 && digits.iter().rev().enumerate().fold(0, add) == 0
}

/// ISO 7064: MOD 11-2 for digits, with an `X` at the end for ten; MOD 37,36 for letters and digits.
fn iso7064(value: &str) -> bool {
    if let Some((check, digits)) = check_and_digits(value) {
        let product = digits.iter().fold(0, |sum, digit| (sum + digit) * 2 % 11);
        return !digits.is_empty() && (product + check) % 11 == 1;
    }
    let letters = value.chars().filter(char::is_ascii_alphanumeric);
    let values: Vec<u32> = letters.filter_map(|letter| letter.to_digit(36)).collect();
    let Some((check, before)) = values.split_last() else {
        return false;
    };
    let product = before.iter().fold(36, |product, value| {
        let sum = (product + value) % 36;
        (if sum == 0 { 36 } else { sum }) * 2 % 37
    });
    !before.is_empty() && (product + check) % 36 == 1
}

/// The check digit at the end of a number, `X` for ten, and the digits before it. `None` if there are other letters.
fn check_and_digits(value: &str) -> Option<(u32, Vec<u32>)> {
    let mut letters: Vec<char> = value.chars().filter(char::is_ascii_alphanumeric).collect();
    let check = match letters.pop()? {
        'X' | 'x' => 10,
        digit => digit.to_digit(10)?,
    };
    let digits: Option<Vec<u32>> = letters.iter().map(|digit| digit.to_digit(10)).collect();
    Some((check, digits?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(code: &str, value: &str) -> bool {
        let check = CHECKS.iter().find(|check| check.code == code);
        (check.unwrap().passes)(value)
    }

    #[test]
    fn published_examples_pass_their_checks() {
        for (check, value) in [
            ("luhn", "79927398713"),
            ("luhn", "4539 1488 0343 6467"),
            ("mod11", "36532 7"),
            ("nhs", "943 476 5919"),
            ("nhs", "401 023 2137"),
            ("mod97", "3214282912345698765432161182"),
            ("verhoeff", "2363"),
            ("verhoeff", "123451"),
            ("iso7064", "0000-0002-1825-0097"),
            ("iso7064", "0000-0002-1694-233X"),
            ("iso7064", "A12425GABC1234002M"),
        ] {
            assert!(passes(check, value), "{check} {value}");
        }
    }

    #[test]
    fn single_changed_digit_fails_every_check() {
        for (check, value) in [
            ("luhn", "79927398713"),
            ("mod11", "365327"),
            ("nhs", "9434765919"),
            ("mod97", "3214282912345698765432161182"),
            ("verhoeff", "123451"),
            ("iso7064", "0000000218250097"),
            ("iso7064", "A12425GABC1234002M"),
        ] {
            for at in 0..value.len() {
                let old = value.as_bytes()[at];
                let new = if old == b'1' { "2" } else { "1" };
                let changed = format!("{}{new}{}", &value[..at], &value[at + 1..]);
                let is_same = changed == value;
                assert!(is_same || !passes(check, &changed), "{check} {changed}");
            }
            assert!(!passes(check, "") && !passes(check, "-"));
        }
    }
}
