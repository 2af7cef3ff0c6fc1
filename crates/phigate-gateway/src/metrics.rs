//! Counters and histograms in the Prometheus format.
//!
//! Labels come from closed sets of static words and from names that owners and operators gave, so that nothing a caller
//! sends can become one.

mod gen_ai;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use gen_ai::GenAi;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use phigate_edge::{EdgeError, Observer};
use phigate_types::{AlertCode, ErrorCode};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::telemetry::Attribute;

/// Seconds: from 50 µs, which a short scan takes, to the two minutes a provider may.
const SECONDS: [f64; 16] = [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 5.0,
    15.0, 60.0, 120.0,
];

/// Labels of an ended request. Labels that do not apply are empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Answered {
    /// The status that the caller got.
    pub(crate) status: u32,
    /// The handling mode.
    pub(crate) mode: &'static str,
    /// The action of the decision record.
    pub(crate) action: &'static str,
    /// The provider's family.
    pub(crate) family: &'static str,
    /// The provider's name.
    pub(crate) provider: String,
    /// Door of the request; empty for texts that are only scanned.
    pub(crate) door: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    r#type: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asked {
    family: &'static str,
    provider: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Raised {
    alert: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Refused {
    code: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Used {
    provider: String,
    r#type: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Shown {
    setting: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Agreed {
    account: String,
    provider: String,
}

/// The agreement with a provider, as far as it is measured.
#[derive(Debug)]
pub struct AgreementEnd {
    /// Name of the account.
    pub account: String,
    /// Name of the provider.
    pub provider: String,
    /// Days until it ends; negative once it has.
    pub days_left: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Exported {
    account: String,
    target: String,
}

/// Records that a target of an export does not have yet.
#[derive(Debug)]
pub(crate) struct ExportLag<'a> {
    /// Name of the account.
    pub(crate) account: &'a str,
    /// Name of the target.
    pub(crate) target: &'a str,
    /// Number of records.
    pub(crate) records: u64,
    /// Age of the oldest in seconds.
    pub(crate) seconds: i64,
}

/// Everything that is measured.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    answered: Family<Answered, Counter>,
    findings: Family<Kind, Counter>,
    scan: Histogram,
    added: Histogram,
    provider: Family<Asked, Histogram>,
    audit_write: Histogram,
    audit_failures: Counter,
    in_flight: Gauge,
    connections: Gauge,
    refused: Family<Refused, Counter>,
    tokens: Family<Used, Counter>,
    store_up: Gauge,
    alerts: Family<Raised, Counter>,
    /// Empty unless the gateway serves a certificate.
    certificate_days: Family<Shown, Gauge>,
    agreement_days: Family<Agreed, Gauge>,
    export_lag_records: Family<Exported, Gauge>,
    export_lag_seconds: Family<Exported, Gauge>,
    export_sent: Family<Exported, Counter>,
    export_failures: Family<Exported, Counter>,
    spans_dropped: Counter,
    telemetry_failures: Counter,
    /// Metrics for collectors alone.
    gen_ai: GenAi,
}

impl Metrics {
    /// All counters at zero.
    pub fn new() -> Arc<Self> {
        let metrics = Self {
            registry: Registry::with_prefix("phigate"),
            answered: Family::default(),
            findings: Family::default(),
            scan: Histogram::new(SECONDS),
            added: Histogram::new(SECONDS),
            provider: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            audit_write: Histogram::new(SECONDS),
            audit_failures: Counter::default(),
            in_flight: Gauge::default(),
            connections: Gauge::default(),
            refused: Family::default(),
            tokens: Family::default(),
            store_up: Gauge::default(),
            alerts: Family::default(),
            certificate_days: Family::default(),
            agreement_days: Family::default(),
            export_lag_records: Family::default(),
            export_lag_seconds: Family::default(),
            export_sent: Family::default(),
            export_failures: Family::default(),
            spans_dropped: Counter::default(),
            telemetry_failures: Counter::default(),
            gen_ai: GenAi::default(),
        };
        // Registered from the start: monitoring does not see an increase from a missing value.
        for code in ErrorCode::all() {
            let code = Refused { code: code.code() };
            metrics.refused.get_or_create(&code).inc_by(0);
        }
        for alert in AlertCode::all() {
            metrics.alerts_raised(alert, 0);
        }
        Arc::new(metrics.register())
    }

    /// Puts every metric under its public name. Counters get `_total` from the format.
    fn register(mut self) -> Self {
        let registry = &mut self.registry;
        registry.register(
            "requests",
            "Requests by status, mode, action, family, provider and door",
            self.answered.clone(),
        );
        registry.register(
            "refused",
            "Requests answered with an error, by its code, also those that were not let in",
            self.refused.clone(),
        );
        registry.register(
            "tokens",
            "Tokens that providers counted, by type",
            self.tokens.clone(),
        );
        registry.register("findings", "Findings by type", self.findings.clone());
        registry.register("scan_seconds", "Time to scan a request", self.scan.clone());
        registry.register(
            "added_seconds",
            "Time a request spent in the gateway itself",
            self.added.clone(),
        );
        registry.register(
            "provider_seconds",
            "Time to the first byte of a provider's answer",
            self.provider.clone(),
        );
        registry.register(
            "audit_write_seconds",
            "Time until a record was durable",
            self.audit_write.clone(),
        );
        registry.register(
            "audit_write_failures",
            "Records that could not be written",
            self.audit_failures.clone(),
        );
        registry.register(
            "requests_in_flight",
            "Requests being answered",
            self.in_flight.clone(),
        );
        registry.register(
            "connections",
            "Open connections of callers",
            self.connections.clone(),
        );
        self.register_state();
        self
    }

    /// Registers the metrics of the current state, rather than of events.
    fn register_state(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "store_up",
            "Whether the store answers and can be written",
            self.store_up.clone(),
        );
        registry.register(
            "alerts",
            "Alerts raised by this process",
            self.alerts.clone(),
        );
        registry.register(
            "certificate_days_left",
            "Days until the TLS certificate for callers ends",
            self.certificate_days.clone(),
        );
        registry.register(
            "agreement_days_left",
            "Days until the agreement with a provider ends",
            self.agreement_days.clone(),
        );
        self.register_exports();
        let registry = &mut self.registry;
        let build = Info::new(vec![
            ("version", env!("CARGO_PKG_VERSION")),
            ("detector", phi_detect::VERSION),
        ]);
        registry.register("build", "The version that runs", build);
    }

    /// Registers the metrics of exports.
    fn register_exports(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "export_lag_records",
            "Records that a target of an export does not have yet",
            self.export_lag_records.clone(),
        );
        registry.register(
            "export_lag_seconds",
            "Age of the oldest record that a target of an export does not have yet",
            self.export_lag_seconds.clone(),
        );
        registry.register(
            "export_sent",
            "Lines that a target of an export took",
            self.export_sent.clone(),
        );
        registry.register(
            "export_failures",
            "Deliveries to a target of an export that failed",
            self.export_failures.clone(),
        );
        registry.register(
            "telemetry_spans_dropped",
            "Spans that did not reach the OpenTelemetry collector",
            self.spans_dropped.clone(),
        );
        registry.register(
            "telemetry_failures",
            "Calls of the OpenTelemetry collector that failed",
            self.telemetry_failures.clone(),
        );
    }

    /// Notes how far a target of an export lags behind.
    pub(crate) fn export_lags(&self, lag: &ExportLag<'_>) {
        let label = exported(lag.account, lag.target);
        let records = i64::try_from(lag.records).unwrap_or(i64::MAX);
        self.export_lag_records.get_or_create(&label).set(records);
        self.export_lag_seconds
            .get_or_create(&label)
            .set(lag.seconds);
        self.export_failures.get_or_create(&label).inc_by(0);
    }

    /// Counts lines that a target took.
    pub(crate) fn export_sent(&self, account: &str, target: &str, lines: u64) {
        let label = exported(account, target);
        self.export_sent.get_or_create(&label).inc_by(lines);
    }

    /// Counts a failed delivery.
    pub(crate) fn export_failed(&self, account: &str, target: &str) {
        let label = exported(account, target);
        self.export_failures.get_or_create(&label).inc();
    }

    /// Drops the metrics of a target that is gone.
    pub(crate) fn export_gone(&self, account: &str, target: &str) {
        let label = exported(account, target);
        self.export_lag_records.remove(&label);
        self.export_lag_seconds.remove(&label);
        self.export_sent.remove(&label);
        self.export_failures.remove(&label);
    }

    /// Counts spans that did not reach the collector.
    pub(crate) fn spans_dropped(&self, spans: u64) {
        self.spans_dropped.inc_by(spans);
    }

    /// Counts a call of the collector that failed.
    pub(crate) fn telemetry_failed(&self) {
        self.telemetry_failures.inc();
    }

    /// Notes one call of a model, with the tokens that its provider counted.
    pub(crate) fn model_called(
        &self,
        mut attributes: Vec<Attribute>,
        error: Option<ErrorCode>,
        took: Duration,
        tokens: Option<(u64, u64)>,
    ) {
        if let Some((input, output)) = tokens {
            for (is_input, count) in [(true, input), (false, output)] {
                attributes.push(Attribute::token_type(is_input));
                self.gen_ai.used(&attributes, count);
                attributes.pop();
            }
        }
        attributes.extend(error.map(Attribute::error));
        self.gen_ai.called(&attributes, took);
    }

    /// Everything, with the metrics for collectors alone.
    pub(crate) fn text_for_collectors(&self) -> String {
        let mut page = self.text();
        // A string takes everything.
        let _ = self.gen_ai.write(&mut page);
        page
    }

    /// Counts a request that was answered with an error.
    pub fn refused(&self, code: ErrorCode) {
        let code = Refused { code: code.code() };
        self.refused.get_or_create(&code).inc();
    }

    /// Counts tokens, as the provider did.
    pub(crate) fn used(&self, provider: &str, input: u64, output: u64) {
        for (kind, count) in [("input", input), ("output", output)] {
            let used = Used {
                provider: provider.to_owned(),
                r#type: kind,
            };
            self.tokens.get_or_create(&used).inc_by(count);
        }
    }

    /// Counts alerts that were raised.
    pub fn alerts_raised(&self, alert: AlertCode, count: u64) {
        let alert = Raised {
            alert: alert.code(),
        };
        self.alerts.get_or_create(&alert).inc_by(count);
    }

    /// Notes whether the store can be used.
    pub fn store_is_up(&self, is_up: bool) {
        self.store_up.set(is_up.into());
    }

    /// Notes how long the certificate shown to callers is valid.
    pub fn certificate_ends(&self, days_left: i64) {
        let shown = Shown {
            setting: "tls.cert",
        };
        self.certificate_days.get_or_create(&shown).set(days_left);
    }

    /// Notes when agreements end: all of them, so that those that are gone go from the page.
    pub fn agreements_end(&self, agreements: Vec<AgreementEnd>) {
        self.agreement_days.clear();
        for agreement in agreements {
            let agreed = Agreed {
                account: agreement.account,
                provider: agreement.provider,
            };
            let gauge = self.agreement_days.get_or_create(&agreed);
            gauge.set(agreement.days_left);
        }
    }

    /// Counts a finished request.
    pub(crate) fn answered(&self, how: &Answered) {
        self.answered.get_or_create(how).inc();
    }

    /// Counts findings of one type.
    pub(crate) fn found(&self, kind: &'static str, count: u64) {
        self.findings
            .get_or_create(&Kind { r#type: kind })
            .inc_by(count);
    }

    /// Notes how long a scan took.
    pub(crate) fn scanned(&self, took: Duration) {
        self.scan.observe(took.as_secs_f64());
    }

    /// Notes the time that the gateway added to a request.
    pub fn added(&self, took: Duration) {
        self.added.observe(took.as_secs_f64());
    }

    /// Notes how long a provider took to answer.
    pub(crate) fn provider_answered(&self, family: &'static str, provider: &str, took: Duration) {
        self.provider
            .get_or_create(&Asked {
                family,
                provider: provider.to_owned(),
            })
            .observe(took.as_secs_f64());
    }

    /// Notes how long a record took to become durable.
    pub(crate) fn recorded(&self, took: Duration) {
        self.audit_write.observe(took.as_secs_f64());
    }

    /// Counts a record that could not be written.
    pub(crate) fn record_failed(&self) {
        self.audit_failures.inc();
    }

    /// Serves `/metrics` on a separate listener.
    pub fn router(self: &Arc<Self>) -> Router {
        let metrics = Arc::clone(self);
        Router::new().route("/metrics", get(move || async move { metrics.page() }))
    }

    /// Everything, in the format of `/metrics`.
    pub fn text(&self) -> String {
        let mut page = String::new();
        text::encode(&mut page, &self.registry).expect("a string takes everything");
        page
    }

    fn page(&self) -> Response {
        let kind =
            HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
        ([(CONTENT_TYPE, kind)], self.text()).into_response()
    }
}

fn exported(account: &str, target: &str) -> Exported {
    Exported {
        account: account.to_owned(),
        target: target.to_owned(),
    }
}

impl Observer for Metrics {
    fn connections(&self, change: i64) {
        self.connections.inc_by(change);
    }

    fn requests(&self, change: i64) {
        self.in_flight.inc_by(change);
    }

    fn refused(&self, error: EdgeError) {
        self.refused(error.code());
        self.answered(&Answered {
            status: error.status().as_u16().into(),
            mode: "",
            action: "",
            family: "",
            provider: String::new(),
            door: "",
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(metrics: &Metrics) -> String {
        let mut page = String::new();
        text::encode(&mut page, &metrics.registry).unwrap();
        page
    }

    #[test]
    fn counted_values_appear_on_metrics_page() {
        let metrics = Metrics::new();
        metrics.answered(&Answered {
            status: 403,
            mode: "block",
            action: "blocked",
            family: "openai",
            provider: "azure-eu".to_owned(),
            door: "messages",
        });
        Observer::refused(&*metrics, EdgeError::Draining);
        metrics.used("azure-eu", 9, 7);
        metrics.store_is_up(true);
        metrics.certificate_ends(30);
        for (provider, days_left) in [("gone", 9), ("azure-eu", -2)] {
            metrics.agreements_end(vec![AgreementEnd {
                account: "default".to_owned(),
                provider: provider.to_owned(),
                days_left,
            }]);
        }
        metrics.found("ssn", 2);
        metrics.record_failed();
        metrics.requests(1);
        let shown = page(&metrics);
        for line in [
            r#"phigate_requests_total{status="403",mode="block",action="blocked",family="openai",provider="azure-eu",door="messages"} 1"#,
            r#"phigate_refused_total{code="shutting_down"} 1"#,
            r#"phigate_refused_total{code="audit_unavailable"} 0"#,
            r#"phigate_tokens_total{provider="azure-eu",type="input"} 9"#,
            r#"phigate_tokens_total{provider="azure-eu",type="output"} 7"#,
            "phigate_store_up 1",
            r#"phigate_certificate_days_left{setting="tls.cert"} 30"#,
            r#"phigate_agreement_days_left{account="default",provider="azure-eu"} -2"#,
            r#"phigate_findings_total{type="ssn"} 2"#,
            "phigate_audit_write_failures_total 1",
            "phigate_requests_in_flight 1",
        ] {
            assert!(
                shown.lines().any(|shown| shown == line),
                "{line} is missing in\n{shown}"
            );
        }
        assert!(shown.contains("phigate_build_info{version="), "{shown}");
        assert!(!shown.contains("gone"), "{shown}");
        metrics.requests(-1);
        assert!(page(&metrics).contains("phigate_requests_in_flight 0"));
    }
}
