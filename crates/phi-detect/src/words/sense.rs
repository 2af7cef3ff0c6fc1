//! Senses of a word.

/// Senses of a word; one word can have several ("May", "Will").
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sense(pub(crate) u32);

impl Sense {
    pub(crate) const NONE: Sense = Sense(0);
    /// First word of a phrase in the label table.
    pub(crate) const LABEL: Sense = Sense(1);
    pub(crate) const TITLE: Sense = Sense(1 << 1);
    pub(crate) const MONTH: Sense = Sense(1 << 2);
    pub(crate) const STREET: Sense = Sense(1 << 3);
    pub(crate) const UNIT: Sense = Sense(1 << 4);
    /// A US state or territory, by postal code or in full.
    pub(crate) const STATE: Sense = Sense(1 << 5);
    pub(crate) const DIRECTION: Sense = Sense(1 << 6);
    pub(crate) const GIVEN: Sense = Sense(1 << 7);
    pub(crate) const DIGIT_WORD: Sense = Sense(1 << 8);
    pub(crate) const NUMBER_WORD: Sense = Sense(1 << 9);
    pub(crate) const ORDINAL: Sense = Sense(1 << 10);
    pub(crate) const KIN: Sense = Sense(1 << 11);
    /// Words that introduce a person: "patient", "attending", "signed".
    pub(crate) const ROLE: Sense = Sense(1 << 12);
    /// Credential after a name, outside it ("MD", "RN").
    pub(crate) const CREDENTIAL: Sense = Sense(1 << 13);
    /// Common words that are never part of a name, even when capitalised.
    pub(crate) const STOP: Sense = Sense(1 << 14);
    /// Words allowed between a label and its value.
    pub(crate) const FILLER: Sense = Sense(1 << 15);
    /// Small words inside names: "de", "van", "bin".
    pub(crate) const PARTICLE: Sense = Sense(1 << 16);
    /// Marks the word before it as an eponym: "disease", "catheter", "score".
    pub(crate) const EPONYM_TAIL: Sense = Sense(1 << 17);
    /// First words of address lines that need no street suffix: "PO", "box", "RR", "highway".
    pub(crate) const BOX: Sense = Sense(1 << 18);
    /// A road word before the name ("rue", "calle").
    pub(crate) const ROAD: Sense = Sense(1 << 21);
    pub(crate) const COUNTRY: Sense = Sense(1 << 22);
    /// Word that is never part of a street name.
    pub(crate) const NO_STREET: Sense = Sense(1 << 23);
    /// Spoken or bracketed "at" and "dot" of an e-mail address.
    pub(crate) const MAIL_WORD: Sense = Sense(1 << 20);

    /// A word that is as often a given name: "Will", "May".
    pub(crate) const GIVEN_WORD: Sense = Sense(1 << 24);
    /// A degree or licence that is rarely another word; puts itself on the page.
    pub(crate) const DEGREE: Sense = Sense(1 << 25);
    /// Introduces a person and is neither a title nor a role: "dtr", "anes", "trooper".
    pub(crate) const INTRODUCES: Sense = Sense(1 << 26);
    /// A key of data in camel case.
    pub(crate) const KEY: Sense = Sense(1 << 27);
    /// Marks that are not words: digits alone, digits and letters, "@", and a mask placeholder.
    pub(crate) const NUMBER: Sense = Sense(1 << 28);
    pub(crate) const CODE: Sense = Sense(1 << 29);
    pub(crate) const AT: Sense = Sense(1 << 30);
    pub(crate) const PLACEHOLDER: Sense = Sense(1 << 31);

    /// Senses that put a word on the page; the rest are only looked up.
    const LOUD: u32 = !(Self::STOP.0
        | Self::FILLER.0
        | Self::CREDENTIAL.0
        | Self::PARTICLE.0
        | Self::EPONYM_TAIL.0
        | Self::NUMBER_WORD.0
        | Self::ORDINAL.0
        | Self::DIRECTION.0
        | Self::ROAD.0
        | Self::COUNTRY.0
        | Self::NO_STREET.0
        | Self::GIVEN_WORD.0
        | Self::INTRODUCES.0);

    pub(crate) fn has(self, other: Sense) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn is_loud(self) -> bool {
        self.0 & Self::LOUD != 0
    }
}

impl std::ops::BitOr for Sense {
    type Output = Sense;

    fn bitor(self, other: Sense) -> Sense {
        Sense(self.0 | other.0)
    }
}
