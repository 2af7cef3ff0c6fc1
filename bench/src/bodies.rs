//! Request bodies: prose without identifiers, or notes full of them, all different.
//!
//! A gateway may cache scans of texts. So every text is new, unless a body says otherwise.

use bytes::Bytes;

/// Plain words of clinical questions.
const WORDS: &[&str] = &[
    "the",
    "patient",
    "reports",
    "mild",
    "pain",
    "after",
    "exercise",
    "and",
    "asks",
    "whether",
    "a",
    "lower",
    "dose",
    "of",
    "the",
    "medication",
    "would",
    "help",
    "with",
    "sleep",
    "because",
    "symptoms",
    "return",
    "at",
    "night",
    "please",
    "summarise",
    "what",
    "guidelines",
    "say",
    "about",
    "long",
    "term",
    "treatment",
    "in",
    "adults",
    "who",
    "also",
    "have",
    "high",
    "blood",
    "pressure",
    "or",
    "diabetes",
    "and",
    "list",
    "common",
    "side",
    "effects",
    "first",
];

/// Notes with some twenty identifiers in four kilobytes; `#` is replaced by a digit, `%` by a letter.
const NOTES: &[&str] = &[
    "Patient: Maria Del%%do  MRN: 00######  DOB: 04/1#/195#\\n",
    "Phone: (555) 010-####  Email: m.%%%%%@example.com\\n",
    "Address: 14## Juniper Hollow Road, Fairhaven, OH 45501\\n",
    "She presented with three days of exertional dyspnea and orthopnea and denies chest pain, fever or cough. \
     Furosemide was stopped because of leg cramps, and weight has risen since. ",
    "Her daughter, Lucia Whit%%%%, helps with medication and can be reached at 555-010-####.\\n",
    "Past history: high cholesterol, arthritis of both hips, gallstones that were removed long ago, and sleep apnea that \
     is treated with a mask at night. Sulfa drugs gave her a rash. She takes metformin 1000 mg twice a day, lisinopril \
     20 mg in the morning, atorvastatin 40 mg in the evening and aspirin 81 mg with breakfast. ",
    "Examination: blood pressure 148/86, pulse 92 and regular, oxygen saturation 93 percent on room air. There are \
     bibasilar crackles and pitting edema to the knees. No murmur, rub or gallop. Abdomen soft and non-tender. ",
    "Laboratory: sodium 136, potassium 4.4, creatinine 1.5 after 1.3 last year, hemoglobin 11.8, white cells 7.2. The \
     radiograph shows a large heart and small effusions on both sides, the tracing a sinus rhythm without signs of \
     ischemia. On ultrasound the ejection fraction is 40 percent, the valves are thickened but open well, and the \
     pressure in the right side of the heart is slightly raised. ",
    "Assessment and plan: acute on chronic heart failure, likely from stopping the diuretic. Strict intake and output, \
     daily weights, low sodium diet, and a follow-up with Dr. Alan Petti%%%% within two weeks.\\n",
];

/// Text of a request.
#[derive(Debug, Clone, Copy)]
enum Text {
    /// No identifier, different in every request.
    Clean,
    /// No identifier, the same text in every request.
    SeenBefore,
    /// Full of identifiers, different in every request.
    Identified,
}

/// Shape of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body {
    bytes: usize,
    text: Text,
    stream: bool,
    /// Whether the text is only scanned.
    is_scan: bool,
}

impl Body {
    pub(crate) const fn clean(bytes: usize) -> Self {
        Self {
            bytes,
            text: Text::Clean,
            stream: false,
            is_scan: false,
        }
    }

    /// A body for `/v1/scan`, which is not forwarded.
    pub(crate) const fn scanned(self) -> Self {
        Self {
            is_scan: true,
            ..self
        }
    }

    /// Whether the text is only scanned.
    pub(crate) fn is_scan(self) -> bool {
        self.is_scan
    }

    /// Path of the request.
    pub(crate) fn path(self) -> &'static str {
        if self.is_scan {
            "/v1/scan"
        } else {
            "/v1/chat/completions"
        }
    }

    /// A body with the same text in every request.
    pub(crate) const fn seen_before(bytes: usize) -> Self {
        let text = Text::SeenBefore;
        Self {
            text,
            ..Self::clean(bytes)
        }
    }

    /// A body with identifiers.
    pub(crate) const fn identified(bytes: usize) -> Self {
        let text = Text::Identified;
        Self {
            text,
            ..Self::clean(bytes)
        }
    }

    /// A request for a stream.
    pub(crate) const fn streamed(self) -> Self {
        Self {
            stream: true,
            ..self
        }
    }

    /// Text of request number `number`, escaped for JSON.
    fn text(self, number: u64) -> String {
        match self.text {
            Text::Clean => prose(self.bytes, number),
            Text::SeenBefore => prose(self.bytes, 0),
            Text::Identified => notes(self.bytes, number),
        }
    }

    /// The text as a line of `phigate scan --jsonl`, for the detector alone.
    pub(crate) fn line(self, number: u64) -> String {
        format!(
            "{{\"id\":\"{number}\",\"text\":\"{}\"}}\n",
            self.text(number)
        )
    }

    /// Request number `number` of this shape.
    pub(crate) fn make(self, number: u64) -> Bytes {
        let text = self.text(number);
        if self.is_scan {
            return Bytes::from(format!(r#"{{"text":"{text}"}}"#));
        }
        let stream = if self.stream { r#","stream":true"# } else { "" };
        Bytes::from(format!(
            r#"{{"model":"gpt-4o","messages":[{{"role":"user","content":"{text}"}}]{stream}}}"#
        ))
    }
}

/// Small random generator, with the same words on every machine and in every run.
struct Dice(u64);

impl Dice {
    fn new(number: u64) -> Self {
        Self(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn roll(&mut self, sides: u64) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides).unwrap_or(0)
    }
}

fn prose(bytes: usize, number: u64) -> String {
    let mut text = String::with_capacity(bytes + 16);
    let mut dice = Dice::new(number);
    let mut words_left = 0;
    while text.len() < bytes {
        let word = WORDS[dice.roll(WORDS.len() as u64)];
        if words_left == 0 {
            text.push_str(if text.is_empty() { "" } else { ". " });
            words_left = 8 + dice.roll(12);
        } else {
            text.push(' ');
        }
        text.push_str(word);
        words_left -= 1;
    }
    text
}

fn notes(bytes: usize, number: u64) -> String {
    let mut text = String::with_capacity(bytes + 256);
    let mut dice = Dice::new(number);
    let mut lines = NOTES.iter().cycle();
    while text.len() < bytes {
        // Notes differ in more than their identifiers, so masked notes differ too.
        text.push_str(WORDS[dice.roll(WORDS.len() as u64)]);
        text.push(' ');
        for letter in lines.next().unwrap_or(&"").chars() {
            text.push(match letter {
                '#' => char::from(b'0' + dice.roll(10) as u8),
                '%' => char::from(b'a' + dice.roll(26) as u8),
                other => other,
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_their_size_and_differ() {
        for look in [Body::clean(4096), Body::identified(4096).streamed()] {
            let bodies: Vec<Bytes> = (0..200).map(|number| look.make(number)).collect();
            for (number, body) in bodies.iter().enumerate() {
                assert!((4096..4500).contains(&body.len()));
                assert!(serde_json::from_slice::<serde_json::Value>(body).is_ok());
                assert!(!bodies[..number].contains(body));
            }
        }
        let scan: serde_json::Value =
            serde_json::from_slice(&Body::identified(4096).scanned().make(7)).unwrap();
        let line: serde_json::Value =
            serde_json::from_str(&Body::identified(4096).line(7)).unwrap();
        assert_eq!(scan["text"], line["text"]);
        let again = Body::seen_before(4096);
        assert_eq!(again.make(1), again.make(2));
    }
}
