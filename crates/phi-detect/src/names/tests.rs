//! The model as a whole: agreement with its training code, with itself on every processor, and across windows.

use super::*;

fn found(level: Level, text: &str) -> Vec<(usize, usize, &'static str, f32)> {
    let budget = Budget::new(&|| true);
    let mut out = budget.memory().list();
    tag(level, text, None, &budget, &mut out);
    out.into_iter()
        .map(|it| (it.span.start, it.span.end, it.kind.code(), it.score))
        .collect()
}

/// Reads lines of `text<TAB>start-end:kind …`, written by `model/export.py` beside the weights.
fn golden() -> impl Iterator<Item = (String, Vec<String>)> {
    include_str!("golden.tsv").lines().map(|line| {
        let (text, spans) = line.split_once('\t').expect("two columns");
        let spans = spans.split_whitespace().map(str::to_owned).collect();
        (text.replace("\\n", "\n"), spans)
    })
}

#[test]
fn rust_and_python_find_the_same() {
    let mut count = 0;
    for (text, expected) in golden() {
        // What it only suspects is not in the file.
        let spans: Vec<String> = found(Level::best(), &text)
            .into_iter()
            .filter(|(.., score)| *score > NEARLY)
            .map(|(start, end, kind, _)| format!("{start}-{end}:{kind}"))
            .collect();
        assert_eq!(spans, expected, "{text:?}");
        count += expected.len();
    }
    assert!(count > 20);
}

#[test]
fn every_level_finds_the_same() {
    for (text, _) in golden() {
        let expected = found(Level::Portable, &text);
        for level in Level::available() {
            assert_eq!(found(level, &text), expected, "{level:?}");
        }
    }
}

#[test]
fn distant_prefix_does_not_change_findings() {
    let (text, _) = golden()
        .max_by_key(|(_, spans)| spans.len())
        .expect("a text");
    let far = "the pain is worse in the morning and better with rest . ".repeat(4);
    let alone = found(Level::best(), &format!("{far}\n\n{text}\n\n{far}"));
    assert!(!alone.is_empty());
    // Token by token, so that a window ends at every place of the text; and once far down.
    let shifts = (1..=WINDOW).map(|count| "and ".repeat(count));
    for prefix in shifts.chain([far.repeat(60)]) {
        let shifted: Vec<_> = found(Level::best(), &format!("{prefix}{far}\n\n{text}\n\n{far}"))
            .into_iter()
            .map(|(start, end, kind, score)| {
                (start - prefix.len(), end - prefix.len(), kind, score)
            })
            .collect();
        assert_eq!(shifted, alone, "{} bytes on", prefix.len());
    }
}

#[test]
fn leaving_unwanted_findings_out_changes_no_other() {
    let text: String = golden().map(|(text, _)| text + "\n").collect();
    let all = found(Level::best(), &text);
    let is_unwanted = |at: usize| (at / 200).is_multiple_of(2);
    let budget = Budget::new(&|| true);
    let mut out = budget.memory().list();
    tag(Level::best(), &text, Some(&is_unwanted), &budget, &mut out);
    assert!(out.len() < all.len());
    let rest = all.iter().filter(|it| !is_unwanted(it.0));
    let kept = out.iter().filter(|it| !is_unwanted(it.span.start));
    assert!(rest.map(|it| it.0..it.1).eq(kept.map(|it| it.span.clone())));
}

#[test]
fn odd_texts_are_survived() {
    for text in [
        "",
        " ",
        "\n",
        "é",
        "\u{0}",
        "日本語のテキスト",
        "🙂🙂",
        &"x".repeat(5000),
        &"1".repeat(5000),
    ] {
        for level in Level::available() {
            found(level, text);
        }
    }
}
