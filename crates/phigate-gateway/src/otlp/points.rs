//! Metrics: the page of `/metrics` as `ExportMetricsServiceRequest`, so that there is one list of metrics.
//!
//! The page is our own, in the format of OpenMetrics. Lines that cannot be read are left out.

use super::protobuf::Message;

/// Scope of the metrics.
const SCOPE: &str = "phigate";

/// Aggregation from the start of the process.
const CUMULATIVE: u64 = 2;

/// Start of the process and time of the page, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) start: u64,
    pub(crate) now: u64,
}

/// The request to a collector.
pub(crate) fn request(page: &str, times: Times) -> Vec<u8> {
    let families = families(page);
    let metrics = families.iter().filter_map(|family| metric(family, times));
    super::request(SCOPE, metrics)
}

/// A metric with all its series.
#[derive(Debug, Default, PartialEq)]
struct Family<'a> {
    name: &'a str,
    help: &'a str,
    kind: &'a str,
    samples: Vec<Sample<'a>>,
}

/// A line with a value.
#[derive(Debug, PartialEq)]
struct Sample<'a> {
    /// End of the name after that of the family, such as `_total`.
    suffix: &'a str,
    labels: Vec<(&'a str, String)>,
    value: f64,
}

fn families(page: &str) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    for line in page.lines() {
        if let Some(about) = line.strip_prefix("# HELP ") {
            let (name, help) = about.split_once(' ').unwrap_or((about, ""));
            families.push(Family {
                name,
                help,
                ..Family::default()
            });
        } else if let Some(about) = line.strip_prefix("# TYPE ") {
            let kind = about.split_once(' ').map_or("", |(_, kind)| kind);
            if let Some(family) = families.last_mut() {
                family.kind = kind;
            }
        } else if let Some(family) = families.last_mut()
            && let Some(sample) = sample(line, family.name)
        {
            family.samples.push(sample);
        }
    }
    families
}

fn sample<'a>(line: &'a str, family: &str) -> Option<Sample<'a>> {
    let rest = line.strip_prefix(family)?;
    let (head, value) = rest.rsplit_once(' ')?;
    let (suffix, labels) = match head.split_once('{') {
        Some((suffix, labels)) => (suffix, read_labels(labels.strip_suffix('}')?)?),
        None => (head, Vec::new()),
    };
    Some(Sample {
        suffix,
        labels,
        value: value.parse().ok()?,
    })
}

/// Labels as written: `name="value"`, with a comma between two, and quotes, backslashes and line ends escaped.
fn read_labels(mut text: &str) -> Option<Vec<(&str, String)>> {
    let mut labels = Vec::new();
    while !text.is_empty() {
        let (name, rest) = text.split_once("=\"")?;
        let mut value = String::new();
        let mut letters = rest.char_indices();
        let end = loop {
            match letters.next()? {
                (at, '"') => break at,
                (_, '\\') => match letters.next()?.1 {
                    'n' => value.push('\n'),
                    letter => value.push(letter),
                },
                (_, letter) => value.push(letter),
            }
        };
        labels.push((name, value));
        text = rest[end + 1..].trim_start_matches(',');
    }
    Some(labels)
}

/// Metric; `None` if it has no series.
fn metric(family: &Family<'_>, times: Times) -> Option<Message> {
    let mut data = Message::default();
    let field = match family.kind {
        "counter" => {
            points(&mut data, family, times);
            data.number(2, CUMULATIVE);
            data.number(3, 1);
            7
        }
        "histogram" => {
            histograms(&mut data, family, times);
            data.number(2, CUMULATIVE);
            9
        }
        _ => {
            points(&mut data, family, times);
            5
        }
    };
    let mut metric = Message::default();
    metric.text(1, family.name);
    metric.text(2, family.help.trim_end_matches('.'));
    metric.text(3, unit(family.name));
    metric.message(field, &data);
    (!family.samples.is_empty()).then_some(metric)
}

/// Unit of a metric, by its name.
fn unit(name: &str) -> &'static str {
    match name {
        _ if name.ends_with("_seconds") || name.ends_with(".duration") => "s",
        _ if name.ends_with("_days_left") => "d",
        _ if name.ends_with(".token.usage") => "{token}",
        _ => "",
    }
}

/// NumberDataPoint of every series.
fn points(data: &mut Message, family: &Family<'_>, times: Times) {
    for sample in &family.samples {
        let mut point = Message::default();
        point.fixed(2, times.start);
        point.fixed(3, times.now);
        point.double(4, sample.value);
        for (name, value) in &sample.labels {
            point.message(7, &super::attribute(name, &super::text(value)));
        }
        data.message(1, &point);
    }
}

/// HistogramDataPoint of every series. The lines of one series follow each other: sum, count, buckets.
fn histograms(data: &mut Message, family: &Family<'_>, times: Times) {
    let is_first = |sample: &Sample<'_>| sample.suffix == "_sum";
    let mut rest = family.samples.as_slice();
    while let Some((first, others)) = rest.split_first() {
        let end = others.iter().position(is_first).unwrap_or(others.len());
        let (series, next) = others.split_at(end);
        rest = next;
        let count = series.iter().find(|sample| sample.suffix == "_count");
        let buckets = series.iter().filter(|sample| sample.suffix == "_bucket");
        let (mut counts, mut bounds, mut below) = (Vec::new(), Vec::new(), 0);
        for bucket in buckets {
            let upto = bucket.value as u64;
            counts.push(upto.saturating_sub(below));
            below = upto;
            let bound = bucket.labels.iter().find(|(name, _)| *name == "le");
            let bound = bound.and_then(|(_, bound)| bound.parse::<f64>().ok());
            bounds.extend(bound.filter(|bound| bound.is_finite()));
        }
        let mut point = Message::default();
        point.fixed(2, times.start);
        point.fixed(3, times.now);
        point.fixed(4, count.map_or(0, |count| count.value as u64));
        point.double(5, first.value);
        point.packed(6, counts.into_iter());
        point.packed(7, bounds.into_iter().map(f64::to_bits));
        for (name, value) in &first.labels {
            point.message(9, &super::attribute(name, &super::text(value)));
        }
        data.message(1, &point);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"# HELP phigate_requests Requests.
# TYPE phigate_requests counter
phigate_requests_total{status="200",provider="a \"b\", {c}\\"} 3
# HELP phigate_scan_seconds Scan.
# TYPE phigate_scan_seconds histogram
phigate_scan_seconds_sum 0.5
phigate_scan_seconds_count 3
phigate_scan_seconds_bucket{le="0.1"} 1
phigate_scan_seconds_bucket{le="+Inf"} 3
# HELP phigate_alerts Alerts.
# TYPE phigate_alerts counter
# EOF
"#;

    #[test]
    fn page_is_read_whole() {
        let read = families(PAGE);
        let names: Vec<(&str, &str, usize)> = read
            .iter()
            .map(|family| (family.name, family.kind, family.samples.len()))
            .collect();
        let expected = [
            ("phigate_requests", "counter", 1),
            ("phigate_scan_seconds", "histogram", 4),
            ("phigate_alerts", "counter", 0),
        ];
        assert_eq!(names, expected);
        let labels = [
            ("status", "200".to_owned()),
            ("provider", "a \"b\", {c}\\".to_owned()),
        ];
        assert_eq!(read[0].samples[0].labels, labels);
    }

    #[test]
    fn histogram_counts_are_per_bucket() {
        let times = Times { start: 1, now: 2 };
        let mut data = Message::default();
        histograms(&mut data, &families(PAGE)[1], times);
        let bytes = data.finish();
        // Two buckets of eight bytes each, with one and two values.
        let counts = [[1_u64.to_le_bytes(), 2_u64.to_le_bytes()].concat()];
        let holds = |wanted: &[u8]| bytes.windows(wanted.len()).any(|part| part == wanted);
        assert!(counts.iter().all(|counts| holds(counts)));
        assert!(holds(&0.1_f64.to_le_bytes()) && holds(&0.5_f64.to_le_bytes()));
    }
}
