//! Metrics of OpenTelemetry's convention for generative AI, for collectors alone: their names have dots, which pages of
//! Prometheus cannot show.

use std::time::Duration;

use prometheus_client::encoding::text;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::telemetry::{Attribute, Shown};

/// Seconds, as the convention recommends.
const SECONDS: [f64; 14] = [
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

/// Tokens, as the convention recommends.
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

type Labels = Vec<(&'static str, String)>;

/// Calls of models, measured.
#[derive(Debug)]
pub(super) struct GenAi {
    registry: Registry,
    duration: Family<Labels, Histogram>,
    tokens: Family<Labels, Histogram>,
}

impl Default for GenAi {
    fn default() -> Self {
        let mut registry = Registry::default();
        let duration = Family::new_with_constructor((|| Histogram::new(SECONDS)) as fn() -> _);
        let tokens = Family::new_with_constructor((|| Histogram::new(TOKENS)) as fn() -> _);
        registry.register(
            "gen_ai.client.operation.duration",
            "Time until a provider's answer was complete, or failed",
            duration.clone(),
        );
        registry.register(
            "gen_ai.client.token.usage",
            "Tokens of a call, as the provider counted them",
            tokens.clone(),
        );
        Self {
            registry,
            duration,
            tokens,
        }
    }
}

impl GenAi {
    /// Notes one call.
    pub(super) fn called(&self, attributes: &[Attribute], took: Duration) {
        let series = self.duration.get_or_create(&labels(attributes));
        series.observe(took.as_secs_f64());
    }

    /// Notes the tokens of one call.
    pub(super) fn used(&self, attributes: &[Attribute], tokens: u64) {
        let series = self.tokens.get_or_create(&labels(attributes));
        series.observe(tokens as f64);
    }

    /// Adds the metrics to a page.
    pub(super) fn write(&self, page: &mut String) -> Result<(), std::fmt::Error> {
        text::encode(page, &self.registry)
    }
}

fn labels(attributes: &[Attribute]) -> Labels {
    let label = |attribute: &Attribute| {
        let value = match attribute.shown() {
            Shown::Text(text) => text.into_owned(),
            Shown::List(word) => word.to_owned(),
            Shown::Number(number) => number.to_string(),
        };
        (attribute.key(), value)
    };
    attributes.iter().map(label).collect()
}
