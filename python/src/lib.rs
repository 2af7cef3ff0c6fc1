//! The detector as a Python package: `scan`, `mask` and `redact` over one text or a list of them.
//!
//! The interpreter lock is released while texts are looked at, and a long list is shared between the processors.

mod batch;

use std::collections::BTreeMap;

use phi_detect::{CodePoints, PhiKind, Profile, Settings, StillHoldsPhi};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyString;

/// One text, or several.
enum Texts {
    One(PyBackedStr),
    Many(Vec<PyBackedStr>),
}

impl Texts {
    /// A `str`, else a list of them. Python reports a `str` that is not valid Unicode.
    fn read(text: &Bound<'_, PyAny>) -> PyResult<Self> {
        if text.is_instance_of::<PyString>() {
            Ok(Self::One(text.extract()?))
        } else {
            Ok(Self::Many(text.extract()?))
        }
    }
}

/// Results of one text, or of several.
#[derive(IntoPyObject)]
enum Results<T> {
    One(T),
    Many(Vec<T>),
}

/// One piece of PHI: its kind and place, never its text.
#[pyclass(frozen, get_all, eq, module = "phi_detect")]
#[derive(Clone, PartialEq)]
struct Finding {
    r#type: &'static str,
    start: usize,
    end: usize,
    score: f64,
    rule: &'static str,
}

#[pymethods]
impl Finding {
    fn __repr__(&self) -> String {
        let Self {
            r#type,
            start,
            end,
            score,
            rule,
        } = self;
        format!("Finding(type='{type}', start={start}, end={end}, score={score}, rule='{rule}')")
    }
}

/// Scans text with its settings. It can be shared between threads.
#[pyclass(frozen, module = "phi_detect")]
struct Detector(phi_detect::Detector);

#[pymethods]
impl Detector {
    #[new]
    #[pyo3(signature = (*, profile=None, thresholds=None, mrn_formats=None))]
    fn new(
        profile: Option<&str>,
        thresholds: Option<BTreeMap<String, f32>>,
        mrn_formats: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let kind = |(code, score): (String, f32)| match PhiKind::from_code(&code) {
            Some(kind) => Ok((kind, score)),
            None => Err(PyValueError::new_err(format!("there is no kind {code:?}"))),
        };
        let thresholds = thresholds.unwrap_or_default().into_iter().map(kind);
        let profile = match profile {
            None => Profile::default(),
            Some(code) => Profile::from_code(code).ok_or_else(|| {
                PyValueError::new_err(format!("there is no profile {code:?}"))
            })?,
        };
        let settings = Settings {
            thresholds: thresholds.collect::<PyResult<_>>()?,
            on: profile.kinds().collect(),
            mrn_formats: mrn_formats.unwrap_or_default(),
            ..Settings::default()
        };
        let detector = phi_detect::Detector::new(settings);
        let detector = detector.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self(detector))
    }

    /// Returns the findings of a text, or of each text of a list. Offsets are indexes into the `str`.
    #[pyo3(signature = (text, /))]
    fn scan(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<Results<Vec<Finding>>> {
        let texts = Texts::read(text)?;
        Ok(over(py, texts, |text| self.findings(text)))
    }

    /// The text with each finding replaced by the placeholder of its kind.
    #[pyo3(signature = (text, /))]
    fn mask(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<Results<String>> {
        whole(over(py, Texts::read(text)?, |text| self.0.mask(text)))
    }

    /// The text with each finding removed.
    #[pyo3(signature = (text, /))]
    fn redact(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<Results<String>> {
        whole(over(py, Texts::read(text)?, |text| self.0.redact(text)))
    }
}

impl Detector {
    fn findings(&self, text: &str) -> Vec<Finding> {
        let mut points = CodePoints::new(text);
        let findings = self.0.scan(text);
        let found = findings.iter().map(|one| Finding {
            r#type: one.kind.code(),
            start: points.at(one.span.start),
            end: points.at(one.span.end),
            score: one.rounded_score(),
            rule: one.rule,
        });
        found.collect()
    }
}

/// Works on one text or on all, without the interpreter lock.
fn over<T: Send>(
    py: Python<'_>,
    texts: Texts,
    work: impl Fn(&str) -> T + Send + Sync,
) -> Results<T> {
    py.detach(|| match texts {
        Texts::One(text) => Results::One(work(&text)),
        Texts::Many(texts) => Results::Many(batch::each(&texts, work)),
    })
}

/// Returns the texts, if masking of all of them was completed.
fn whole(results: Results<Result<String, StillHoldsPhi>>) -> PyResult<Results<String>> {
    let error = |error: StillHoldsPhi| PyValueError::new_err(error.to_string());
    match results {
        Results::One(text) => text.map(Results::One).map_err(error),
        Results::Many(texts) => {
            let texts: Result<Vec<String>, StillHoldsPhi> = texts.into_iter().collect();
            texts.map(Results::Many).map_err(error)
        }
    }
}

/// The native part of the package.
#[pymodule]
mod _native {
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    #[pymodule_export]
    use super::{Detector, Finding};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let kinds = phi_detect::PhiKind::all().map(phi_detect::PhiKind::code);
        module.add(
            "KINDS",
            PyTuple::new(module.py(), kinds.collect::<Vec<_>>())?,
        )?;
        let profiles = phi_detect::Profile::all().map(phi_detect::Profile::code);
        module.add(
            "PROFILES",
            PyTuple::new(module.py(), profiles.collect::<Vec<_>>())?,
        )?;
        module.add(
            "__version__",
            phi_detect::VERSION.trim_start_matches("phi-detect "),
        )
    }
}
