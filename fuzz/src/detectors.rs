//! Detectors and scanners that several targets use.

use std::sync::LazyLock;

use phi_detect::Detector;
use phigate_core::protect::Scanner;

/// With everything switched on.
pub(crate) static DETECTOR: LazyLock<Detector> = LazyLock::new(Detector::default);

/// With everything switched on.
pub(crate) static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(Detector::default()));

/// Without the name model: for targets that are about something else and should be quick.
pub(crate) static QUICK: LazyLock<Scanner> =
    LazyLock::new(|| Scanner::new(Detector::default().without_names()));
