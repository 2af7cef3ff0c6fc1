//! Bytes as a network cuts them. Whatever reads a stream must give the same for every cut.

/// Splits an input into the size of its pieces, which its first byte says, and the rest.
pub(crate) fn cut(bytes: &[u8]) -> (usize, &[u8]) {
    match bytes.split_first() {
        Some((step, rest)) => (usize::from(*step % 64).max(1), rest),
        None => (1, bytes),
    }
}

/// Runs something on the whole and on the pieces, and holds the results against each other.
pub(crate) fn same_for_every_cut<T: PartialEq>(bytes: &[u8], play: impl Fn(&[&[u8]]) -> T) -> T {
    let (step, rest) = cut(bytes);
    let (whole, cut) = (play(&[rest]), play(&rest.chunks(step).collect::<Vec<_>>()));
    assert!(whole == cut, "the output depends on the cut");
    whole
}
