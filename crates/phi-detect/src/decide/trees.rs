//! The fitted scorers: boosted trees as tables of whole numbers, written by `model/reader/fit.py`.

use std::sync::OnceLock;

use phi_kernels::Level;

use super::features::{NAMES, Row};

/// One line per node: tree, feature (-1 at a leaf), bound or value, child at or below the bound, child above it.
static LOOK: &str = include_str!("look.tsv");
static TREES: &str = include_str!("trees.tsv");
static BEYOND: &str = include_str!("beyond.tsv");

/// A leaf's value is in units of this fraction of log-odds.
const UNIT_BITS: u32 = 16;
const UNIT: f32 = (1 << UNIT_BITS) as f32;

/// A node of a tree; at a leaf `feature` is `None`.
#[derive(Clone, Copy, Debug)]
struct Node {
    feature: Option<u8>,
    /// The bound, or the value of a leaf.
    number: i32,
    children: [u16; 2],
}

/// All trees, one after the other.
pub(super) struct Trees {
    nodes: Vec<Node>,
    roots: Vec<usize>,
}

impl Trees {
    /// The trees that judge candidates by the fast passes alone.
    pub(super) fn first_look() -> &'static Self {
        static READ: OnceLock<Trees> = OnceLock::new();
        READ.get_or_init(|| Trees::read(LOOK))
    }

    /// The trees that judge candidates, and the reader's own, by what the reader says as well.
    pub(super) fn behind_reading() -> &'static Self {
        static READ: OnceLock<Trees> = OnceLock::new();
        READ.get_or_init(|| Trees::read(TREES))
    }

    /// The trees that judge candidates of the kinds beyond the specification.
    pub(super) fn beyond() -> &'static Self {
        static READ: OnceLock<Trees> = OnceLock::new();
        READ.get_or_init(|| Trees::read(BEYOND))
    }

    fn read(table: &str) -> Self {
        let mut trees = Trees {
            nodes: Vec::new(),
            roots: Vec::new(),
        };
        let mut last = None;
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let mut numbers = line
                .split('\t')
                .map(|number| number.parse::<i32>().unwrap_or(-1));
            let mut next = || numbers.next().unwrap_or(-1);
            let [tree, feature, number, low, high] = [next(), next(), next(), next(), next()];
            if last != Some(tree) {
                trees.roots.push(trees.nodes.len());
                last = Some(tree);
            }
            trees.nodes.push(Node {
                feature: u8::try_from(feature).ok(),
                number,
                children: [low.max(0) as u16, high.max(0) as u16],
            });
        }
        trees
    }

    /// Returns the probability that a candidate with these features is PHI.
    pub(super) fn score(&self, row: &Row) -> f32 {
        let odds = self.odds(row) as f32 / UNIT;
        let mut shares = [odds, 0.0];
        phi_kernels::probabilities(Level::Portable, &mut shares);
        shares[0]
    }

    /// Returns the weight of each feature for a candidate, in thousandths of log-odds: the odds with it, less those
    /// without.
    pub(super) fn weights(&self, row: &Row) -> [i32; NAMES.len()] {
        let odds = self.odds(row);
        std::array::from_fn(|feature| {
            let mut without = *row;
            without[feature] = 0;
            (((odds - self.odds(&without)) * 1000) >> UNIT_BITS) as i32
        })
    }

    fn odds(&self, row: &Row) -> i64 {
        let leaves = self
            .roots
            .iter()
            .map(|&root| i64::from(self.leaf(root, row)));
        leaves.sum()
    }

    fn leaf(&self, root: usize, row: &Row) -> i32 {
        let mut node = self.nodes[root];
        // A tree is never deeper than this, so that a damaged table cannot hold a scan.
        for _ in 0..32 {
            let Some(feature) = node.feature else {
                break;
            };
            let is_above = row.get(usize::from(feature)).copied().unwrap_or(0) > node.number;
            let child = root + usize::from(node.children[usize::from(is_above)]);
            node = self.nodes[child.min(self.nodes.len() - 1)];
        }
        node.number
    }
}
