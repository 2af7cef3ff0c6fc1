//! Social security numbers.
//!
//! Three, two and four digits. By the Social Security Administration's rules
//! (SSN randomization, 2011) the area is never 000, 666 or 900 to 999, the group
//! never 00, the serial never 0000. A number that someone calls an SSN is one even
//! when it breaks those rules: test data and typing errors still point at people.

use super::{Evidence, Meaning, PhiRule, Shape};
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "ssn",
    label: "SSN",
    placeholder: "[SSN]",
    summary: "US social security numbers: 3-2-4 digits with any separator, nine digits in a row or spelled \
        out when called an SSN, masked forms such as XXX-XX-1234, and the last four digits when labelled as part of an SSN.",
    not_found: "Nine digits that nothing labels as an SSN; numbers labelled as something else (MRN, order, lot).",
    authority: "SSA, Social Security Number Randomization (2011): area, group and serial rules",
    threshold: 0.5,
    is_on_by_default: true,
    labels: &[
        (
            Meaning::Ssn,
            "ssn|ssns|ssn number|ssn no|ssn last 4|ssn last four|social security|social security number|\
            social security numbers|social security no|social security num|social security card|social sec|\
            social sec no|social sec number|soc sec|soc sec no|soc sec num|soc sec number|social number|social no|\
            socsec|ss no|ss num|ss number|ss nbr|s s n|seguro social|numero de seguro social|us ssn|patient ssn|\
            pt ssn|member ssn|ssn4|ssn l4|ssn last4|ssnlast4|last4ssn|ssn 4|last4 ssn|last 4 ssn|last four ssn|\
            last 4 of ssn|last 4 of social|last four of social|last 4 of his social|last 4 of her social|\
            last four of her ssn",
        ),
        (
            Meaning::SsnMaybe,
            "social|ss|soc|socials|itin|tin|tax id|taxpayer id|taxpayer identification number|subscriber id ssn",
        ),
    ],
    number: None,
    weights: &[
        // Shape and evidence, then how sure they make us and the name of the rule.
        (Shape::Value, Evidence::Field, 0.98, "ssn.field"),
        (Shape::Value, Evidence::VagueField, 0.8, "ssn.field"),
        (Shape::Grouped, Evidence::Label, 0.99, "ssn.labelled"),
        (Shape::Grouped, Evidence::VagueLabel, 0.97, "ssn.labelled"),
        (
            Shape::Grouped,
            Evidence::NamedAfter,
            0.97,
            "ssn.named_after",
        ),
        (Shape::Dashed, Evidence::Form, 0.9, "ssn.dashed"),
        (Shape::Dotted, Evidence::Form, 0.6, "ssn.dotted"),
        (Shape::Spaced, Evidence::Form, 0.55, "ssn.spaced"),
        (Shape::Unbroken, Evidence::Label, 0.98, "ssn.labelled"),
        (Shape::Unbroken, Evidence::VagueLabel, 0.9, "ssn.labelled"),
        (Shape::Unbroken, Evidence::Stated, 0.75, "ssn.labelled"),
        (
            Shape::Unbroken,
            Evidence::NamedAfter,
            0.95,
            "ssn.named_after",
        ),
        (
            Shape::OddlyGrouped,
            Evidence::Label,
            0.9,
            "ssn.oddly_grouped",
        ),
        (Shape::LastFour, Evidence::SaidLast, 0.9, "ssn.last_four"),
        (Shape::LastFour, Evidence::NamedAfter, 0.85, "ssn.last_four"),
        (Shape::LastFour, Evidence::Label, 0.7, "ssn.last_four"),
        (Shape::Masked, Evidence::Form, 0.95, "ssn.masked"),
        (Shape::Masked, Evidence::Label, 0.9, "ssn.masked"),
        (Shape::Value, Evidence::Again, 0.7, "ssn.repeated"),
        (Shape::Spoken, Evidence::Label, 0.95, "ssn.spoken"),
        (Shape::Spelled, Evidence::Label, 0.9, "ssn.spoken"),
    ],
    hits: &[
        "My SSN is «536-22-8741»",
        "Patient John Smith, SSN «536-22-8741», has a cough",
        "social security number: «536228741»",
        "ssn «536 22 8741»",
        "«536-22-8741»",
        "ID: «536-22-8741»",
        "My id is «536-22-8741»",
        "SSN «XXX-XX-8741» on file",
        "last four of her social are «8741»",
        "SSN ending in «8741»",
        "Your SSN, please?\n\n«536228741»",
        "her social is «five three six two two eight seven four one»",
        "«536-22-8741» is the SSN we have",
        "SSNs: «536-22-8741» and «536-22-8742»",
        "[SSN:«536-22-8741»]",
        "SSN «536-22-8741»DOB 3/14/1962",
        "SSN: «536:22:8741», SSN «536~22~8741»",
        "SSN: «S36-22-874l» (fax)",
        "What's your social? Caller: «536 228741».",
        "last four of your social?\nMember: uh «8741»",
        "the last four digits of my social security number are «8741».",
        "ID verified by the last four («8741») of her social",
        "it ends with «8741» for my social",
        "Jane Roe (SSN «8741»)",
        "my social is «five thirty six, twenty-two, eighty seven forty one»",
        "SSN «five hundred thirty-six, twenty-two, eighty-seven forty-one»",
        "ITIN «912-70-1234»",
        "SSN «XXXXX8741», SSN: «•••-••-8741»",
        "\"ssn4\":\"«8741»\"",
        "We have her SSN. It's «536228741».",
        "My id: «536228741» is my SSN",
        "The social for Jane Roe is «536228741».",
        "SSN as listed on the insurance card: «536228741»",
        "social security last four «eight seven four one»",
        "seguro social termina en «8741»",
        "Another man, another social: mine ends in «8741».",
        "it asked for the last 4 of my social and I typed «8741» in the box",
        "DOB 3/14/1962 and SSN tail «8741» match",
        "«536228741», that's my social",
        "SSNs: «536-22-8741»,«536-22-8742» or «536228743»/«536228744»",
        "1,«536-22-8741»,Roe",
        "SSN/DOB «536-22-8741»/07-02-1971",
        "His SSN is «536-22-8741»,5 feet tall; SSN: $«536228742»",
        "What next?\nSSN: «536228741»",
        "SSN: [SSN] «536228741»",
        "«536.22.8741»",
        "1. «536 22 8741»",
        "{\"ssn\":\"«A536228741»\"}",
        "her social, as she recalled it, «536 22 8741», matched",
        "gives social as «5 3 6  2 2  8 7 4 1» on arrival",
        "and the last four of her social\nMBR: um «eight seven oh one». I believe.",
        "SSN «536228741» first, then «536228741» again",
    ],
    misses: &[
        "member id 536-22-8741",
        "MRN 536-22-8741",
        "order number 536228741",
        "536-22-0000 is not a valid SSN.",
        "000-12-3456",
        "SSN , has a cough",
        "Population 331449281 in the 2020 census.",
        "See ISBN 978-0-306-40615-7.",
        "let a = 536 - 22; assert_eq!(a, 514);",
        "SSN 2019 rules",
        "SSN on file, member ID 536228741",
        "The last four digits of the card are 8741.",
        "Her SSN was changed and I typed 8741 words",
    ],
    spelling: Spelling::Code,
    precedence: 0.30,
};
