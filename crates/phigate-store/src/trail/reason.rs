//! Reason of an actor for looking at content; the audit trail keeps it.

/// Permitted lengths of a reason: shorter texts say nothing, longer ones are documents.
const CHARACTERS: std::ops::RangeInclusive<usize> = 4..=400;

/// A reason as it is recorded, if it is one.
pub fn reason(text: &str) -> Option<&str> {
    let text = text.trim();
    CHARACTERS.contains(&text.chars().count()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_a_few_words() {
        for refused in ["", "   ", "x", " x \n ", &"x".repeat(401)] {
            assert_eq!(reason(refused), None);
        }
        assert_eq!(reason(" breach of 3 May "), Some("breach of 3 May"));
    }
}
