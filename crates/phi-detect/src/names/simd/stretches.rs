//! Weights in an order that lets kernels add products up in 16 bits.
//!
//! A sum of 16 bits takes half the room of one of 32, and half the steps. It
//! must never overflow, so the weights say how many products fit.

use std::cmp::Reverse;

use super::{ACTIVATION_MAX, Fours};

/// Groups of four inputs whose products are added up in 16 bits before they are in 32. With more, the
/// weights at hand would not fit; a number that is known beforehand lets the compiler write them all out.
pub(super) const STRETCH: usize = 6;

/// Groups of four inputs whose products together fit sums of 16 bits.
pub(super) struct Stretch<const OUT: usize> {
    pub(super) groups: [u16; STRETCH],
    pub(super) weights: [Fours<OUT>; STRETCH],
}

impl<const OUT: usize> Stretch<OUT> {
    /// Returns all groups of a layer.
    pub(super) fn all(packed: &[[[i8; 4]; OUT]]) -> Vec<Self> {
        let new = |places: Vec<usize>| Stretch::new(packed, &places);
        stretches(packed).into_iter().map(new).collect()
    }

    /// Takes the places of groups, at most as many as a stretch holds. It is filled up with weights of zero.
    fn new(packed: &[[[i8; 4]; OUT]], places: &[usize]) -> Self {
        let weights = |place: &usize| Fours(packed[*place]);
        Stretch {
            groups: std::array::from_fn(|at| places.get(at).map_or(0, |place| *place as u16)),
            weights: std::array::from_fn(|at| places.get(at).map_or(Fours([[0; 4]; OUT]), weights)),
        }
    }
}

/// Deals groups of four inputs out to stretches within which no sum of 16 bits can overflow, whatever the inputs are.
/// Such a sum takes two of the four inputs of each group.
///
/// Those that could add most come first, each in the stretch with most room left: nearly all stretches are full then.
fn stretches<const OUT: usize>(groups: &[[[i8; 4]; OUT]]) -> Vec<Vec<usize>> {
    let added = |weights: &[i8; 4]| {
        let [a, b, c, d] = weights.map(|weight| ACTIVATION_MAX * i32::from(weight));
        let (up, down) = (|sum: i32| sum.max(0), |sum: i32| (-sum).max(0));
        [
            up(a) + up(b),
            down(a) + down(b),
            up(c) + up(d),
            down(c) + down(d),
        ]
    };
    let reaches: Vec<[[i32; 4]; OUT]> = groups
        .iter()
        .map(|group| group.each_ref().map(added))
        .collect();
    let greatest = |reach: &[[i32; 4]; OUT]| reach.iter().flatten().copied().max();
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|group| Reverse(greatest(&reaches[*group])));
    let none = ([[0; 4]; OUT], Vec::new());
    let mut stretches = vec![none.clone(); groups.len().div_ceil(STRETCH)];
    for group in order {
        let with = |sums: &[[i32; 4]; OUT]| -> [[i32; 4]; OUT] {
            std::array::from_fn(|output| {
                std::array::from_fn(|sum| sums[output][sum] + reaches[group][output][sum])
            })
        };
        let room = stretches
            .iter()
            .enumerate()
            .filter(|(_, (_, places))| places.len() < STRETCH)
            .map(|(stretch, (sums, _))| (greatest(&with(sums)), stretch))
            .min()
            .filter(|(sum, _)| *sum <= Some(i32::from(i16::MAX)));
        let stretch = room.map_or(stretches.len(), |(_, stretch)| stretch);
        if stretch == stretches.len() {
            stretches.push(none.clone());
        }
        let (sums, places) = &mut stretches[stretch];
        *sums = with(sums);
        places.push(group);
    }
    stretches.into_iter().map(|(_, places)| places).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{TAPS, WIDTH};
    use super::*;

    #[test]
    fn no_stretch_overflows_sixteen_bits() {
        const GROUPS: usize = TAPS * WIDTH / 4;
        let groups = |weight: i8| vec![[[weight; 4]; WIDTH]; GROUPS];
        let lengths =
            |groups: &[_]| -> Vec<usize> { stretches(groups).iter().map(Vec::len).collect() };
        // Two products of 127 by 127 fit and four do not.
        assert_eq!(lengths(&groups(127)), [1; GROUPS]);
        assert_eq!(lengths(&groups(-127)), [1; GROUPS]);
        // Two products of 127 by 30 fit four times.
        assert!(lengths(&groups(30)).iter().all(|length| *length <= 4));
        // A heavy group among light ones leaves no gap.
        let mut mixed = groups(10);
        mixed[7] = [[77; 4]; WIDTH];
        assert_eq!(lengths(&mixed), [STRETCH; GROUPS / STRETCH]);
        let mut all = stretches(&mixed).concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..GROUPS));
    }
}
