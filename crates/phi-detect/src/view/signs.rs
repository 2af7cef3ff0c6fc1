//! Plain signs for signs outside ASCII. A sign is never part of a word or number.

/// Dashes, dots, quotes and spaces.
pub(super) fn sign(c: char) -> Option<char> {
    Some(match c {
        c if is_dash(c) => '-',
        '\u{b7}' | '\u{387}' | '\u{2022}' | '\u{2024}' | '\u{2027}' | '\u{2219}' | '\u{22c5}'
        | '\u{30fb}' | '\u{ff65}' | '\u{3002}' | '\u{ff61}' | '\u{2e31}' | '\u{2e33}'
        | '\u{25cf}' | '\u{25e6}' | '\u{16eb}' => '.',
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{2bc}' | '\u{2b9}' | '\u{ff07}' | '\u{b4}' => {
            '\''
        }
        '\u{201c}'..='\u{201f}'
        | '\u{2033}'
        | '\u{ab}'
        | '\u{bb}'
        | '\u{300c}'..='\u{300f}'
        | '\u{ff62}'
        | '\u{ff63}' => '"',
        '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{2571}' => '/',
        '\u{ff5c}' | '\u{2502}' | '\u{2503}' | '\u{2551}' | '\u{a6}' => '|',
        '\u{3001}' | '\u{ff64}' | '\u{60c}' | '\u{55d}' | '\u{2e41}' => ',',
        '\u{61b}' | '\u{204f}' => ';',
        '\u{5c3}' | '\u{2236}' | '\u{a789}' => ':',
        '\u{2192}' | '\u{21d2}' | '\u{27a1}' => '>',
        '\u{3010}' | '\u{3014}' | '\u{27e8}' | '\u{3008}' | '\u{300a}' => '(',
        '\u{3011}' | '\u{3015}' | '\u{27e9}' | '\u{3009}' | '\u{300b}' => ')',
        '\u{85}' | '\u{2028}' | '\u{2029}' => '\n',
        '\u{2800}' => ' ',
        c if c.is_whitespace() => ' ',
        _ => return None,
    })
}

/// Whether this is a dash of any script, or a line drawn like one.
fn is_dash(c: char) -> bool {
    matches!(
        c,
        '\u{58a}' | '\u{5be}' | '\u{6d4}' | '\u{1400}' | '\u{1806}' | '\u{2010}'
            ..='\u{2015}'
                | '\u{2043}'
                | '\u{2053}'
                | '\u{2212}'
                | '\u{23af}'
                | '\u{2500}'
                | '\u{2501}'
                | '\u{2504}'
                | '\u{2505}'
                | '\u{2508}'
                | '\u{2509}'
                | '\u{254c}'
                | '\u{254d}'
                | '\u{2550}'
                | '\u{2574}'
                | '\u{2576}'
                | '\u{2578}'
                | '\u{257a}'
                | '\u{2796}'
                | '\u{2e17}'
                | '\u{2e1a}'
                | '\u{2e3a}'
                | '\u{2e3b}'
                | '\u{2e40}'
                | '\u{2e5d}'
                | '\u{301c}'
                | '\u{3030}'
                | '\u{30a0}'
                | '\u{30fc}'
                | '\u{2d7}'
                | '\u{fe31}'
                | '\u{fe32}'
                | '\u{fe58}'
                | '\u{fe63}'
                | '\u{ff0d}'
                | '\u{ff70}'
                | '\u{10ead}'
    )
}

/// Returns the sign that the view shows for a sign unlike all plain ones: it parts words and numbers.
pub(super) fn other_sign(c: char) -> Option<char> {
    if c.is_alphanumeric() {
        return None;
    }
    Some(match c {
        '\u{a2}'..='\u{a5}' | '\u{20a0}'..='\u{20cf}' => '$',
        // Between numbers these make a sum of two, not one.
        '\u{ac}'
        | '\u{b1}'
        | '\u{d7}'
        | '\u{f7}'
        | '\u{b0}'
        | '\u{2190}'..='\u{23ff}'
        | '\u{27c0}'..='\u{27ff}'
        | '\u{2900}'..='\u{2aff}' => '^',
        _ => ' ',
    })
}
