//! Rosters, end to end: patients of a site are found in every request.

use crate::support::{Gateway, Provider, ask};
use serde_json::{Value, json};

const FILE: &str = "given,family,dob,mrn
Jordan,River,1950-11-04,QZ884172
Glen,Canyon,1961-02-03,QZ551908
";
const MAP: &str = "given=given,family=family,dob=dob,mrn=mrn";
const TEXT: &str = "The note says Jordan River was first in the morning.";
const REASON: &[&str] = &["--reason", "a test of rosters"];

struct Site {
    provider: Provider,
    gateway: Gateway,
    file: String,
}

impl Site {
    fn start() -> Self {
        let provider = Provider::start();
        let gateway = Gateway::start(&provider);
        let file = gateway.data().with_extension("csv");
        let file = file.to_str().unwrap().to_owned();
        gateway.set_mode("mask");
        Self {
            provider,
            gateway,
            file,
        }
    }

    fn import(&self, text: &str, map: &str) -> std::process::Output {
        std::fs::write(&self.file, text).unwrap();
        let command = ["roster", "import", "main", &self.file, "--map", map];
        self.gateway.try_command(&command, "")
    }

    fn sent(&self, key: &str, text: &str) -> String {
        let answer = self.gateway.chat(key, &ask("gpt-4o", text));
        assert_eq!(answer.status, 200);
        let content = self.provider.last().json()["messages"][0]["content"].take();
        content.as_str().unwrap_or_default().to_owned()
    }
}

#[test]
fn patients_are_found_from_the_next_request() {
    let site = Site::start();
    let key = site.gateway.key();
    assert_eq!(site.sent(&key, TEXT), TEXT);
    assert!(site.import(FILE, MAP).status.success());
    assert_eq!(
        site.sent(&key, TEXT),
        TEXT.replace("Jordan River", "[NAME]")
    );
    let near = "The River folder, dated 1950-11-04, is on the desk.";
    assert!(!site.sent(&key, near).contains("River"));
    let body = json!({ "text": TEXT }).to_string();
    let found = site.gateway.post("/v1/scan", &key, &body).json();
    assert_eq!(found["results"][0]["findings"][0]["rule"], "roster");
    let listed = site.gateway.command(&["roster", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(
        (&listed[0]["name"], &listed[0]["patients"]),
        (&json!("main"), &json!(2))
    );
    let removed = [&["roster", "remove", "main"], REASON].concat();
    assert_eq!(
        site.gateway.try_command(&removed[..3], "").status.code(),
        Some(2)
    );
    site.gateway.command(&removed);
    assert_eq!(site.sent(&key, TEXT), TEXT);
}

#[test]
fn wrong_file_keeps_the_roster_before() {
    let site = Site::start();
    let key = site.gateway.key();
    assert!(site.import(FILE, MAP).status.success());
    for (text, map, named) in [
        ("", MAP, "line 1"),
        (
            "given,family\nGlen\n",
            "given=given,family=family",
            "line 2",
        ),
        (
            "given,family\nGlen,Canyon\n",
            "given=given,family=surname",
            "surname",
        ),
        (FILE, "given=given", "family"),
    ] {
        let refused = site.import(text, map);
        let words = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{words}");
        assert!(words.contains(named) && !words.contains("Glen"), "{words}");
    }
    assert_eq!(
        site.sent(&key, TEXT),
        TEXT.replace("Jordan River", "[NAME]")
    );
    std::fs::remove_file(&site.file).unwrap();
    for value in ["Canyon", "QZ551908", "1961-02-03"] {
        let is_on_disk = site.gateway.is_on_disk(value.as_bytes());
        assert!(!is_on_disk, "{value} is on disk");
    }
}
