//! Drills: a backup is restored into a scratch folder and verified; a damaged one is found.

use crate::support::{Gateway, Provider, ask};

fn code(gateway: &Gateway, arguments: &[&str]) -> (Option<i32>, String) {
    let done = gateway.try_command(arguments, "");
    let said = [done.stdout, done.stderr].concat();
    (
        done.status.code(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

#[test]
fn drill_restores_newest_backup_and_finds_damage() {
    let provider = Provider::start();
    let gateway = Gateway::start(&provider);
    let (none, said) = code(&gateway, &["drill"]);
    assert_eq!(none, Some(2), "{said}");
    let key = gateway.key();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let scratch = at("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let drill = ["drill", "--scratch", &scratch];
    let mut records = 0;
    for name in ["first", "second"] {
        assert_eq!(
            gateway.chat(&key, &ask("gpt-4o", "SSN 536-22-8741")).status,
            200
        );
        gateway.command(&["backup", &at(name)]);
        let (restored, said) = code(&gateway, &drill);
        assert_eq!(restored, Some(0), "{said}");
        assert!(said.contains(&at(name)) && said.contains(" ms"), "{said}");
        let (_, counted) = said.rsplit_once(": ").unwrap();
        let counted: u64 = counted.split(' ').next().unwrap().parse().unwrap();
        assert!(counted > records, "{said}");
        records = counted;
    }
    gateway.command(&["export", &at("whole")]);
    let (imported, said) = code(&gateway, &[&drill[..], &[&at("whole")]].concat());
    assert_eq!(imported, Some(0), "{said}");
    let whole = std::fs::read(at("second")).unwrap();
    std::fs::write(at("second"), &whole[..whole.len() / 3]).unwrap();
    let (damaged, said) = code(&gateway, &drill);
    assert_eq!(damaged, Some(1), "{said}");
    std::fs::remove_file(at("second")).unwrap();
    assert_eq!(code(&gateway, &drill).0, Some(1));
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0);
    let acts = gateway.command(&["audit", "list", "--installation"]);
    let drills = acts
        .lines()
        .filter(|line| line.contains("installation.drill"));
    assert_eq!(drills.count(), 5, "{acts}");
    let controls = gateway.command(&["report", "controls", "--format", "json"]);
    assert!(controls.contains("installation.drill"), "{controls}");
    assert!(gateway.command(&["audit", "verify"]).contains("intact"));
}
