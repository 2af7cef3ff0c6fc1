//! Instruction sets.

/// An instruction set to run kernels with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Plain Rust.
    Portable,
    /// 256-bit multiply and add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit multiply and add.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 512-bit dot products.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
    /// 128-bit multiply and add.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Level {
    /// The fastest level of this processor.
    pub fn best() -> Self {
        Self::supported().next_back().unwrap_or(Level::Portable)
    }

    /// The levels of this processor, slowest first.
    pub fn supported() -> impl DoubleEndedIterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let all = [
            (Level::Portable, true),
            (Level::Avx2, is_x86_feature_detected!("avx2")),
            (Level::Avx512, has_avx512()),
            (
                Level::Avx512Vnni,
                has_avx512() && is_x86_feature_detected!("avx512vnni"),
            ),
        ];
        #[cfg(target_arch = "aarch64")]
        let all = [(Level::Portable, true), (Level::Neon, true)];
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let all = [(Level::Portable, true)];
        all.into_iter()
            .filter_map(|(level, is_here)| is_here.then_some(level))
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
}
