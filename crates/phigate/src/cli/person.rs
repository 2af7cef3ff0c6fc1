//! The actor of a command in the audit trail: a person and a machine, not a program.

use std::fs;
use std::process::Command;
use std::sync::OnceLock;

/// The kernel's login id of a process without a login.
const NO_LOGIN: u32 = u32::MAX;

/// The operating system's user and host, such as `cli: jroe@ward-7` or, through sudo, `cli: jroe@ward-7 as root`. The
/// prefix distinguishes this from the e-mail address of a dashboard user.
pub(super) fn actor() -> &'static str {
    static ACTOR: OnceLock<String> = OnceLock::new();
    ACTOR.get_or_init(|| {
        let acting = rustix::process::getuid().as_raw();
        let sudo = (acting == 0).then(|| std::env::var("SUDO_USER").ok());
        let behind = logged_in().map(name_of).or(sudo.flatten());
        let host = rustix::system::uname();
        let host = host.nodename().to_string_lossy().into_owned();
        words(&name_of(acting), behind.as_deref(), &host)
    })
}

/// The actor's text. `behind` is the user who logged in, if known.
fn words(acting: &str, behind: Option<&str>, host: &str) -> String {
    match behind.filter(|behind| *behind != acting && !behind.is_empty()) {
        Some(person) => format!("cli: {}@{host} as {acting}", plain(person)),
        None => format!("cli: {acting}@{host}"),
    }
}

/// The user who logged in, even after a change of user. The kernel keeps this id, so no variable can forge it.
fn logged_in() -> Option<u32> {
    let text = fs::read_to_string("/proc/self/loginuid").ok()?;
    let id = text.trim().parse().ok()?;
    (id != NO_LOGIN).then_some(id)
}

/// A user's name, or the id if the name is unknown.
fn name_of(id: u32) -> String {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_in(&users, id)
        .or_else(|| name_from_directory(id))
        .unwrap_or_else(|| format!("uid {id}"))
}

fn name_in(users: &str, id: u32) -> Option<String> {
    let id = id.to_string();
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == id).then(|| plain(name))
    })
}

/// Asks the system's `id` command, because users of a directory service are not in `/etc/passwd`.
fn name_from_directory(id: u32) -> Option<String> {
    let answer = Command::new("/usr/bin/id")
        .args(["-nu", &id.to_string()])
        .output()
        .ok()?;
    let name = String::from_utf8(answer.stdout).ok()?;
    let name = plain(name.trim());
    (answer.status.success() && !name.is_empty()).then_some(name)
}

/// A name without characters that have a meaning in the record.
fn plain(name: &str) -> String {
    let is_plain =
        |letter: &char| !letter.is_control() && !letter.is_whitespace() && *letter != '@';
    name.chars().filter(is_plain).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actor_names_person_machine_and_user() {
        for (acting, behind, wanted) in [
            ("jroe", None, "cli: jroe@ward-7"),
            ("jroe", Some("jroe"), "cli: jroe@ward-7"),
            ("root", Some("jroe"), "cli: jroe@ward-7 as root"),
            ("root", Some(""), "cli: root@ward-7"),
            ("root", Some("j roe@\n"), "cli: jroe@ward-7 as root"),
        ] {
            assert_eq!(words(acting, behind, "ward-7"), wanted);
        }
    }

    #[test]
    fn names_are_looked_up_by_number() {
        let users = "root:x:0:0:root:/root:/bin/sh\njroe:x:1000:1000:Jane Roe:/home/jroe:/bin/sh\n";
        assert_eq!(name_in(users, 1000).as_deref(), Some("jroe"));
        assert_eq!(name_in(users, 100), None);
    }
}
