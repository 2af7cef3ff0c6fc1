//! Time that the gateway itself adds, read from its own metrics.

const ADDED: &str = "phigate_added_seconds_bucket{le=\"";

/// Milliseconds below which half of the requests, and 95 % of them, stayed since the server started.
/// The histogram only knows the steps of its buckets, so these are upper bounds.
pub(crate) fn added_ms(metrics: &str) -> Option<[f64; 2]> {
    let buckets: Vec<(f64, u64)> = metrics.lines().filter_map(bucket).collect();
    let all = buckets
        .last()
        .map(|(_, count)| *count)
        .filter(|count| *count > 0)?;
    let below = |share: f64| {
        let wanted = (all as f64 * share).ceil() as u64;
        buckets
            .iter()
            .find(|(_, count)| *count >= wanted)
            .map(|(seconds, _)| seconds * 1000.0)
    };
    Some([below(0.5)?, below(0.95)?]).filter(|both| both.iter().all(|ms| ms.is_finite()))
}

fn bucket(line: &str) -> Option<(f64, u64)> {
    let (edge, count) = line.strip_prefix(ADDED)?.split_once("\"} ")?;
    let edge = if edge == "+Inf" {
        f64::INFINITY
    } else {
        edge.parse().ok()?
    };
    Some((edge, count.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_shares_are_read_from_the_metrics() {
        let metrics = phigate_gateway::Metrics::new();
        assert_eq!(added_ms(&metrics.text()), None);
        for _ in 0..90 {
            metrics.added(Duration::from_micros(400));
        }
        for _ in 0..10 {
            metrics.added(Duration::from_micros(4_000));
        }
        assert_eq!(added_ms(&metrics.text()), Some([0.5, 5.0]));
    }
}
