//! Bytes as a network cuts them. A reader of streams must give the same output for every cut.

/// Splits an input into the piece size, from its first byte, and the rest.
pub(crate) fn cut(bytes: &[u8]) -> (usize, &[u8]) {
    match bytes.split_first() {
        Some((step, rest)) => (usize::from(*step % 64).max(1), rest),
        None => (1, bytes),
    }
}

/// Runs a reader on the whole input and on pieces, and compares the results.
pub(crate) fn same_for_every_cut<T: PartialEq>(bytes: &[u8], play: impl Fn(&[&[u8]]) -> T) -> T {
    let (step, rest) = cut(bytes);
    let (whole, cut) = (play(&[rest]), play(&rest.chunks(step).collect::<Vec<_>>()));
    assert!(whole == cut, "the output depends on the cut");
    whole
}
