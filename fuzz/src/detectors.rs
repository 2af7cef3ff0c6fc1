//! Detectors and scanners shared by targets.

use std::sync::LazyLock;

use phi_detect::Detector;
use phigate_core::protect::Scanner;

/// Complete detector.
pub(crate) static DETECTOR: LazyLock<Detector> = LazyLock::new(Detector::default);

/// Complete scanner.
pub(crate) static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(Detector::default()));

/// Scanner without the name model, for targets that test something else.
pub(crate) static QUICK: LazyLock<Scanner> =
    LazyLock::new(|| Scanner::new(Detector::default().without_names()));
