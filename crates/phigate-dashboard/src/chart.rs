//! Geometry of the column chart: numbers in, rectangles out. Colours are the style sheet's business.

use std::sync::LazyLock;

use jiff::Timestamp;
use phigate_types::{Action, Mode, Tone};

use super::fields::encode;
use super::view::grouped;

/// Outcomes of a request, as stacked from the bottom of each column: the calm ones below, the ones to look at on top.
pub(crate) static SERIES: LazyLock<Vec<Series>> = LazyLock::new(|| {
    let clean = Series {
        of: Of::Clean,
        class: "clean",
        label: "No PHI",
    };
    let flagged = Series {
        of: Of::Flagged,
        class: Tone::Warn.class(),
        label: "PHI, forwarded",
    };
    let by_action = Mode::all()
        .rev()
        .map(|mode| mode.action)
        .filter(|action| *action != Action::FORWARDED)
        .chain([Action::REFUSED, Action::SCANNED])
        .map(|action| Series {
            of: Of::Action(action),
            class: action.tone().class(),
            label: action.label(),
        });
    [clean, flagged].into_iter().chain(by_action).collect()
});

const WIDTH: i32 = 760;
const HEIGHT: i32 = 230;
const LEFT: i32 = 44;
const TOP: i32 = 10;
const BASE: i32 = HEIGHT - 26;
const LABELS: usize = 6;

/// One colour of the chart.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) of: Of,
    pub(crate) class: &'static str,
    pub(crate) label: &'static str,
}

/// Meaning of a colour.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Of {
    /// Forwarded, and nothing was found.
    Clean,
    /// Forwarded with PHI.
    Flagged,
    /// Whatever this was done with.
    Action(Action),
}

/// One hour or day: counts in the order of [`SERIES`].
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) start: Timestamp,
    pub(crate) counts: Vec<u64>,
    /// Requests with PHI that went on unchanged.
    pub(crate) flagged: u64,
}

/// A chart, ready to be drawn.
#[derive(Debug)]
pub(crate) struct Chart {
    pub(crate) width: i32,
    pub(crate) height: i32,
    pub(crate) left: i32,
    pub(crate) base: i32,
    pub(crate) span: &'static str,
    pub(crate) summary: String,
    pub(crate) series: &'static [Series],
    pub(crate) ticks: Vec<Tick>,
    pub(crate) columns: Vec<Column>,
    pub(crate) labels: Vec<Label>,
}

/// A line across, with its value.
#[derive(Debug)]
pub(crate) struct Tick {
    pub(crate) y: i32,
    pub(crate) label: String,
}

/// One hour or day.
#[derive(Debug)]
pub(crate) struct Column {
    /// The log of its requests.
    pub(crate) href: String,
    /// Start of the column, for the script, and its contents in words.
    pub(crate) iso: String,
    pub(crate) words: String,
    pub(crate) x: f32,
    pub(crate) pitch: f32,
    pub(crate) title: String,
    pub(crate) parts: Vec<Part>,
}

/// One colour of a column.
#[derive(Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) class: &'static str,
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
}

/// A moment below the chart.
#[derive(Debug)]
pub(crate) struct Label {
    pub(crate) x: f32,
    pub(crate) iso: String,
    pub(crate) text: String,
    pub(crate) form: &'static str,
}

impl Chart {
    /// Lays out the slots, oldest first. `span` says what they cover; `by_day` how to label them.
    pub(crate) fn new(slots: &[Slot], span: &'static str, by_day: bool) -> Chart {
        let highest = slots.iter().map(|slot| slot.counts.iter().sum()).max();
        let top = round_up(highest.unwrap_or(0));
        let pitch = (WIDTH - LEFT) as f32 / slots.len().max(1) as f32;
        let columns = slots
            .iter()
            .enumerate()
            .map(|(index, slot)| {
                let end = slots.get(index + 1).map(|next| next.start);
                column(slot, end, (LEFT as f32 + index as f32 * pitch, pitch), top)
            })
            .collect();
        Chart {
            width: WIDTH,
            height: HEIGHT,
            left: LEFT,
            base: BASE,
            span,
            summary: summary(slots, span),
            series: &SERIES,
            ticks: ticks(top),
            columns,
            labels: labels(slots, pitch, by_day),
        }
    }
}

fn column(slot: &Slot, end: Option<Timestamp>, (x, pitch): (f32, f32), top: u64) -> Column {
    let scale = (BASE - TOP) as f32 / top as f32;
    let gap = (pitch * 0.22).min(6.0);
    let mut y = BASE as f32;
    let mut parts = Vec::new();
    for (series, count) in SERIES.iter().zip(slot.counts.iter().copied()) {
        if count == 0 {
            continue;
        }
        // One blocked request among ten thousand must still be seen.
        let height = (count as f32 * scale).max(1.5);
        y -= height;
        parts.push(Part {
            class: series.class,
            x: tenth(x + gap / 2.0),
            y: tenth(y.max(0.0)),
            width: tenth(pitch - gap),
            height: tenth(height),
        });
    }
    let counted: Vec<String> = SERIES
        .iter()
        .zip(slot.counts.iter().copied())
        .filter(|(_, count)| *count > 0)
        .map(|(series, count)| format!("{} {}", grouped(count), series.label))
        .collect();
    let words = if counted.is_empty() {
        "no requests".to_owned()
    } else {
        counted.join(", ")
    };
    let stamp = |time: Timestamp| time.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    let until = end.map_or_else(String::new, |end| format!("&until={}", encode(&stamp(end))));
    Column {
        href: format!("/audit?since={}{until}", encode(&stamp(slot.start))),
        iso: format!("{}Z", stamp(slot.start)),
        words: words.clone(),
        x: tenth(x),
        pitch: tenth(pitch),
        title: format!("{}: {words}", slot.start.strftime("%Y-%m-%d %H:%M UTC")),
        parts,
    }
}

fn ticks(top: u64) -> Vec<Tick> {
    let steps = if top.is_multiple_of(4) { 4 } else { 2 };
    (0..=steps)
        .map(|step| Tick {
            y: BASE - (BASE - TOP) * step / steps,
            label: grouped(top * step as u64 / steps as u64),
        })
        .collect()
}

fn labels(slots: &[Slot], pitch: f32, by_day: bool) -> Vec<Label> {
    let every = slots.len().div_ceil(LABELS).max(1);
    let (form, format) = if by_day {
        ("day", "%b %d")
    } else {
        ("hour", "%H:%M")
    };
    slots
        .iter()
        .enumerate()
        .step_by(every)
        .map(|(index, slot)| Label {
            x: tenth(LEFT as f32 + (index as f32 + 0.5) * pitch),
            iso: slot.start.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            text: slot.start.strftime(format).to_string(),
            form,
        })
        .collect()
}

fn summary(slots: &[Slot], span: &str) -> String {
    let totals: Vec<String> = SERIES
        .iter()
        .enumerate()
        .map(|(row, series)| {
            let total = slots.iter().map(|slot| slot.counts[row]).sum();
            format!("{} {}", grouped(total), series.label)
        })
        .collect();
    format!("Requests, {span}: {}", totals.join(", "))
}

/// The next number that divides well: 4, 8, 20, 40, 80, 200 and so on.
fn round_up(highest: u64) -> u64 {
    let mut unit = 1;
    loop {
        for step in [4, 8, 12, 20, 28] {
            if highest <= step * unit {
                return step * unit;
            }
        }
        unit *= 10;
    }
}

fn tenth(value: f32) -> f32 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(counts: [u64; 7]) -> Slot {
        Slot {
            start: Timestamp::from_second(1_700_000_000).unwrap(),
            counts: counts.to_vec(),
            flagged: 0,
        }
    }

    #[test]
    fn chart_columns_rest_on_base_within_bounds() {
        let slots = [
            slot([90, 5, 0, 0, 3, 1, 0]),
            slot([0; 7]),
            slot([400, 0, 12, 0, 0, 0, 0]),
        ];
        let chart = Chart::new(&slots, "last 24 hours", false);
        for part in chart.columns.iter().flat_map(|column| &column.parts) {
            assert!(part.x >= LEFT as f32 && part.x + part.width <= WIDTH as f32);
            assert!(part.y >= 0.0 && part.y + part.height <= BASE as f32 + 0.2);
        }
        assert!(chart.columns[1].parts.is_empty());
        let lowest = &chart.columns[0].parts[0];
        assert!((lowest.y + lowest.height - BASE as f32).abs() < 0.2);
    }

    #[test]
    fn single_blocked_request_is_visible_among_many() {
        let chart = Chart::new(&[slot([100_000, 0, 0, 0, 1, 0, 0])], "last 24 hours", false);
        assert!(chart.columns[0].parts[1].height >= 1.5);
        assert_eq!(chart.columns[0].parts[1].class, Tone::Bad.class());
    }

    #[test]
    fn the_summary_counts_every_series() {
        let chart = Chart::new(
            &[slot([1, 2, 3, 4, 5, 6, 7]), slot([1, 2, 3, 4, 5, 6, 7])],
            "last 24 hours",
            false,
        );
        assert_eq!(
            chart.summary,
            "Requests, last 24 hours: 2 No PHI, 4 PHI, forwarded, 6 Masked, 8 Redacted, 10 Blocked, 12 Refused, 14 Scanned"
        );
    }

    #[test]
    fn an_empty_chart_still_has_an_axis() {
        let chart = Chart::new(&[], "last 24 hours", false);
        assert_eq!(chart.ticks.last().unwrap().label, "4");
    }
}
