//! The reader beside the Python that trained it, and its levels beside each other.

use phi_kernels::Level;

use super::network::Window;
use super::pieces;
use super::weights::Weights;
use super::{KINDS, KINDS_COUNT, Opinion, read};
use crate::budget::Budget;

/// Texts with the pieces and shares that `model/reader/export.py` computes.
fn golden() -> Vec<serde_json::Value> {
    serde_json::from_str(include_str!("golden.json")).expect("golden texts are JSON")
}

fn numbers(value: &serde_json::Value) -> Vec<f64> {
    let list = value.as_array().expect("a list of numbers");
    list.iter().filter_map(serde_json::Value::as_f64).collect()
}

fn ids_of(text: &str) -> Vec<u16> {
    let mut found = Vec::new();
    pieces::split(Weights::get(), text, 0, text.len(), &mut found);
    found.iter().map(|piece| piece.id).collect()
}

#[test]
fn pieces_equal_the_trainer_s() {
    for one in golden() {
        let text = one["text"].as_str().expect("a text");
        let expected = numbers(&one["pieces"]);
        let found: Vec<f64> = ids_of(text).into_iter().map(f64::from).collect();
        assert_eq!(found[..expected.len()], expected, "{text}");
    }
}

#[test]
fn shares_agree_with_the_trainer_s() {
    let mut window = Window::new();
    for one in golden() {
        let text = one["text"].as_str().expect("a text");
        let expected = numbers(&one["shares"]);
        let mut ids = vec![0];
        ids.extend(&ids_of(text)[..expected.len()]);
        ids.push(1);
        let shares = window.read(Level::best(), ids.iter().copied());
        let row = shares.len() / ids.len();
        for (place, expected) in expected.iter().enumerate() {
            let found = 1.0 - f64::from(shares[(place + 1) * row]);
            assert!(
                (found - expected).abs() < 0.06,
                "{found} {expected} in {text}"
            );
        }
    }
}

fn opinions(level: Level, text: &str) -> Vec<Opinion> {
    let budget = Budget::new(&|| true);
    read(
        level,
        text,
        std::slice::from_ref(&(0..text.len())),
        |_| true,
        &budget,
    )
    .core
}

#[test]
fn every_level_reads_the_same() {
    let text =
        "Jane Roe, MRN 4829137, born 3/4/61, called 415-555-0134 about Mr. Okafor. ".repeat(30);
    let bits = |level| {
        let found = opinions(level, &text);
        let bits = |one: &Opinion| (one.start, one.share.to_bits(), one.kind_share.to_bits());
        found.iter().map(bits).collect::<Vec<_>>()
    };
    let plain = bits(Level::Portable);
    for level in Level::supported() {
        assert!(bits(level) == plain, "{level:?}");
    }
}

#[test]
fn kinds_are_as_many_as_classes() {
    assert_eq!(KINDS.lines().count(), KINDS_COUNT);
}
