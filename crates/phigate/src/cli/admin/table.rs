//! The table of the admin API: each resource with its rights and its calls, each call with the command behind it.

use http::Method;
use phigate_store::AdminAdmission;
use phigate_types::Right;

use super::answer::{Refusal, decoded, wrong_method};
use super::read::{self, Entries};
use crate::cli::Session;

/// Reads the entries of a resource.
pub(super) type Reader = for<'a> fn(&'a Session, &'a AdminAdmission) -> Entries<'a>;

/// A kind of entry with its address.
pub(super) struct Resource {
    /// Path below the base, and name in messages.
    pub(super) name: &'static str,
    /// One entry, in words.
    pub(super) one: &'static str,
    /// Field that names an entry.
    pub(super) id: &'static str,
    pub(super) reads: Right,
    pub(super) changes: Right,
    /// Whether the account has one of it, without a name.
    pub(super) is_single: bool,
    /// Whether changes need a key made with `--installation`.
    pub(super) is_installation: bool,
    pub(super) entries: Reader,
    pub(super) calls: &'static [Call],
}

/// Method of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Put,
    Post,
    Delete,
}

impl Verb {
    /// Name of the method.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Put => "PUT",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// A call: a method, on an entry or on the list.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) verb: Verb,
    /// Address below the resource: nothing, an entry, or an act on an entry.
    pub(super) at: At,
    pub(super) summary: &'static str,
    pub(super) work: Work,
}

/// Place of a call below its resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// The resource itself.
    All,
    /// An entry by its name.
    One,
    /// An act on an entry.
    Act(&'static str),
}

/// Effect of a call.
#[derive(Clone, Copy)]
pub(super) enum Work {
    /// Reads entries.
    Read,
    /// Runs a command of the command line.
    Run {
        /// Words of the command, without its options.
        words: &'static [&'static str],
        /// Use of the entry's name.
        name: Name,
        put: Put,
        body: Body,
    },
}

/// Use of the name in the address by the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// No name.
    None,
    /// First argument.
    First,
    /// Option with the name as its value.
    Option(&'static str),
    /// Left side of `NAME=VALUE`.
    Assigned,
}

/// Treatment of an entry that is there already, or not yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Put {
    /// The command treats both alike.
    Any,
    /// Another command makes a new entry.
    Anew(&'static [&'static str]),
    /// The entry cannot be changed: setting equal values again is allowed.
    Once,
    /// The entry must be there.
    There,
}

/// Form of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// No body.
    None,
    /// Options and arguments of the command, in snake case.
    Options,
    /// `value`, and `reason` if protection becomes weaker.
    Value,
    /// A word of the policy for each kind of PHI. Kinds that are not given have no word afterwards.
    Words,
}

impl Call {
    /// Whether the call changes anything.
    pub(super) fn sets(&self) -> bool {
        !matches!(self.work, Work::Read)
    }

    /// Whether the call has a body.
    pub(super) fn takes_body(&self) -> bool {
        matches!(&self.work, Work::Run { body, .. } if *body != Body::None)
    }
}

impl Resource {
    /// The right that a call needs.
    pub(super) fn right(&self, call: &Call, name: Option<&str>) -> Right {
        match (call.sets(), self.name, name) {
            (false, ..) => self.reads,
            // Settings are of several subjects.
            (true, "settings", Some(name)) => right_of_setting(name),
            (true, ..) => self.changes,
        }
    }

    /// Path of a call, as the description writes it.
    pub(super) fn path(&self, call: &Call) -> String {
        let entry = format!("/{}/{{{}}}", self.name, self.id);
        match call.at {
            At::All => format!("/{}", self.name),
            At::One => entry,
            At::Act(act) => format!("{entry}/{act}"),
        }
    }
}

/// The right to change a setting: as on its page of the dashboard.
fn right_of_setting(name: &str) -> Right {
    match name {
        "content_days" | "record_days" | "legal_hold" | "reveal_approvals" => Right::Retention,
        "require_second_factor" => Right::People,
        _ => Right::Configure,
    }
}

const LIST: Call = read_call(At::All, "List");
const GET: Call = read_call(At::One, "Read");

const fn read_call(at: At, summary: &'static str) -> Call {
    Call {
        verb: Verb::Get,
        at,
        summary,
        work: Work::Read,
    }
}

const fn run(
    verb: Verb,
    at: At,
    summary: &'static str,
    words: &'static [&'static str],
    body: Body,
) -> Call {
    let name = match at {
        At::All => Name::None,
        At::One | At::Act(_) => Name::First,
    };
    let put = match at {
        At::Act(_) => Put::There,
        At::All | At::One => Put::Any,
    };
    Call {
        verb,
        at,
        summary,
        work: Work::Run {
            words,
            name,
            put,
            body,
        },
    }
}

/// A call that sets an entry.
const fn put(words: &'static [&'static str], name: Name, put: Put, body: Body) -> Call {
    Call {
        verb: Verb::Put,
        at: At::One,
        summary: "Set",
        work: Work::Run {
            words,
            name,
            put,
            body,
        },
    }
}

const fn post(words: &'static [&'static str]) -> Call {
    run(Verb::Post, At::All, "Create", words, Body::Options)
}

const fn act(act: &'static str, words: &'static [&'static str], body: Body) -> Call {
    run(Verb::Post, At::Act(act), act, words, body)
}

const fn delete(words: &'static [&'static str]) -> Call {
    let mut call = run(Verb::Delete, At::One, "Remove", words, Body::None);
    if let Work::Run { put, .. } = &mut call.work {
        *put = Put::There;
    }
    call
}

/// A resource of an account that people with these rights read and change.
const fn resource(
    name: &'static str,
    one: &'static str,
    id: &'static str,
    (reads, changes): (Right, Right),
    entries: Reader,
    calls: &'static [Call],
) -> Resource {
    Resource {
        name,
        one,
        id,
        reads,
        changes,
        is_single: false,
        is_installation: false,
        entries,
        calls,
    }
}

const CONFIGURE: (Right, Right) = (Right::Settings, Right::Configure);
const PEOPLE: (Right, Right) = (Right::SeePeople, Right::People);

/// The table.
pub(super) static RESOURCES: &[Resource] = &[
    // Alphabetical by name.
    Resource {
        is_installation: true,
        ..resource(
            "accounts",
            "account",
            "name",
            (Right::Settings, Right::People),
            read::accounts,
            &[
                LIST,
                GET,
                put(
                    &["account", "create"],
                    Name::First,
                    Put::Once,
                    Body::Options,
                ),
                delete(&["account", "delete", "--yes"]),
            ],
        )
    },
    resource(
        "admin-keys",
        "admin key",
        "id",
        PEOPLE,
        read::admin_keys,
        &[
            LIST,
            GET,
            post(&["admin-key", "create"]),
            delete(&["admin-key", "revoke"]),
        ],
    ),
    resource(
        "allow",
        "allowed value",
        "id",
        CONFIGURE,
        read::allowed,
        &[
            LIST,
            GET,
            post(&["allow", "add"]),
            delete(&["allow", "remove"]),
        ],
    ),
    resource(
        "exports",
        "export",
        "name",
        (Right::Settings, Right::Exports),
        read::exports,
        &[
            LIST,
            GET,
            put(&["export-to", "add"], Name::First, Put::Once, Body::Options),
            delete(&["export-to", "remove"]),
            act("pause", &["export-to", "pause"], Body::None),
            act("resume", &["export-to", "resume"], Body::None),
            act("rewind", &["export-to", "rewind"], Body::Options),
        ],
    ),
    resource(
        "fallbacks",
        "fallback",
        "model",
        CONFIGURE,
        read::fallbacks,
        &[
            LIST,
            GET,
            put(&["fallback", "set"], Name::First, Put::Any, Body::Options),
            delete(&["fallback", "remove"]),
        ],
    ),
    resource(
        "groups",
        "group of keys",
        "name",
        CONFIGURE,
        read::groups,
        &[
            LIST,
            GET,
            put(
                &["policy", "set"],
                Name::Option("--group"),
                Put::Any,
                Body::Words,
            ),
            delete(&["policy", "remove"]),
        ],
    ),
    resource(
        "jwt",
        "token issuer",
        "name",
        CONFIGURE,
        read::issuers,
        &[
            LIST,
            GET,
            put(&["jwt", "set"], Name::First, Put::Any, Body::Options),
            delete(&["jwt", "remove"]),
        ],
    ),
    resource(
        "keys",
        "API key",
        "id",
        CONFIGURE,
        read::keys,
        &[
            LIST,
            GET,
            post(&["key", "create"]),
            put(&["key", "set"], Name::First, Put::There, Body::Options),
            act("rotate", &["key", "rotate"], Body::Options),
            delete(&["key", "revoke"]),
        ],
    ),
    resource(
        "kinds",
        "kind of PHI",
        "code",
        CONFIGURE,
        read::kinds,
        &[
            LIST,
            GET,
            put(&["kind", "set"], Name::First, Put::There, Body::Options),
        ],
    ),
    Resource {
        is_single: true,
        ..resource(
            "policy",
            "policy of the account",
            "",
            CONFIGURE,
            read::policy,
            &[
                LIST,
                Call {
                    at: At::All,
                    ..put(&["policy", "set"], Name::None, Put::Any, Body::Words)
                },
            ],
        )
    },
    Resource {
        is_single: true,
        ..resource(
            "profile",
            "profile of the account",
            "",
            CONFIGURE,
            read::profile,
            &[
                LIST,
                Call {
                    at: At::All,
                    ..put(&["profile", "set"], Name::None, Put::Any, Body::Options)
                },
            ],
        )
    },
    resource(
        "providers",
        "provider",
        "name",
        CONFIGURE,
        read::providers,
        &[
            LIST,
            GET,
            put(&["provider", "set"], Name::First, Put::Any, Body::Options),
            delete(&["provider", "remove"]),
        ],
    ),
    resource(
        "reveals",
        "request to reveal content",
        "id",
        (Right::Trail, Right::Reveal),
        read::reveals,
        &[LIST, GET],
    ),
    resource(
        "settings",
        "setting",
        "name",
        CONFIGURE,
        read::settings,
        &[
            LIST,
            GET,
            put(
                &["settings", "set"],
                Name::Assigned,
                Put::There,
                Body::Value,
            ),
        ],
    ),
    Resource {
        is_single: true,
        ..resource(
            "sso",
            "single sign-on",
            "",
            PEOPLE,
            read::sso,
            &[
                LIST,
                Call {
                    at: At::All,
                    ..put(&["sso", "set"], Name::None, Put::Any, Body::Options)
                },
                run(
                    Verb::Delete,
                    At::All,
                    "Turn off",
                    &["sso", "off"],
                    Body::None,
                ),
            ],
        )
    },
    resource(
        "users",
        "user",
        "email",
        PEOPLE,
        read::users,
        &[
            LIST,
            GET,
            put(
                &["user", "set"],
                Name::First,
                Put::Anew(&["user", "add"]),
                Body::Options,
            ),
            delete(&["user", "remove"]),
        ],
    ),
];

/// The resource, call and name of an address.
pub(super) fn find(
    path: &str,
    method: &Method,
) -> Result<(&'static Resource, &'static Call, Option<String>), Refusal> {
    let mut pieces = path.trim_start_matches('/').split('/');
    let resource = pieces.next().unwrap_or_default();
    let resource = RESOURCES.iter().find(|known| known.name == resource);
    let resource = resource.ok_or_else(Refusal::not_found)?;
    let (name, act) = (pieces.next(), pieces.next());
    let is_long = pieces.next().is_some();
    let at = |call: &&Call| match call.at {
        At::All => name.is_none(),
        At::One => name.is_some() && act.is_none(),
        At::Act(wanted) => act == Some(wanted),
    };
    let here: Vec<&'static Call> = resource.calls.iter().filter(at).collect();
    let name = name.map(|name| decoded(name).filter(|name| !name.is_empty()));
    if here.is_empty() || is_long || matches!(name, Some(None)) {
        return Err(Refusal::not_found());
    }
    let call = here.iter().find(|call| call.verb.code() == method.as_str());
    let call = call.ok_or_else(|| {
        let methods: Vec<&str> = here.iter().map(|call| call.verb.code()).collect();
        wrong_method(&methods.join(", "))
    })?;
    let name = name.flatten().map(|name| match resource.name {
        // Addresses are kept in lower case.
        "users" => name.to_lowercase(),
        _ => name,
    });
    Ok((resource, call, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    #[test]
    fn resources_are_ordered_and_commands_exist() {
        assert!(RESOURCES.is_sorted_by_key(|resource| resource.name));
        let described = cli::described();
        for call in RESOURCES.iter().flat_map(|resource| resource.calls) {
            let Work::Run { words, .. } = &call.work else {
                continue;
            };
            let mut command = &described;
            for word in words.iter().filter(|word| !word.starts_with('-')) {
                command = command.find_subcommand(word).unwrap();
            }
        }
    }

    #[test]
    fn commands_that_set_have_calls() {
        // Commands without a call: what they do, or what sets the same.
        let without = [
            ("provider test", "a trial"),
            ("export-to test", "a trial"),
            ("sso test", "a trial"),
            ("policy try", "a trial"),
            ("policy explain", "reads"),
            ("policy request-header", "settings/request_header"),
            ("reveals approvals", "settings/reveal_approvals"),
            ("master-key rotate", "needs the machine's key file"),
        ];
        let called: Vec<String> = RESOURCES
            .iter()
            .flat_map(|resource| resource.calls)
            .filter_map(|call| match &call.work {
                Work::Run { words, put, .. } => Some((words, put)),
                Work::Read => None,
            })
            .flat_map(|(words, put)| match put {
                Put::Anew(new) => vec![words[..2].join(" "), new.join(" ")],
                _ => vec![words[..2].join(" ")],
            })
            .collect();
        let described = cli::described();
        let groups = [
            "account",
            "admin-key",
            "allow",
            "export-to",
            "fallback",
            "jwt",
            "key",
            "kind",
            "master-key",
            "policy",
            "profile",
            "provider",
            "reveals",
            "sso",
            "user",
        ];
        for group in groups {
            let command = described.find_subcommand(group).unwrap();
            for verb in command.get_subcommands().map(clap::Command::get_name) {
                let name = format!("{group} {verb}");
                let reads = ["get", "list", "show"].contains(&verb);
                let is_without = without.iter().any(|(known, _)| *known == name);
                assert!(
                    reads || is_without || called.contains(&name),
                    "{name} has no call"
                );
            }
        }
    }

    #[test]
    fn addresses_lead_to_calls() {
        for (path, method, found) in [
            ("/providers", Method::GET, true),
            ("/providers/a", Method::PUT, true),
            ("/exports/a/pause", Method::POST, true),
            ("/providers/a", Method::PATCH, false),
            ("/providers/a/b", Method::GET, false),
            ("/providers/%00", Method::GET, false),
            ("/providers/", Method::GET, false),
            ("/policy/a", Method::GET, false),
            ("/kit", Method::GET, false),
            ("", Method::GET, false),
        ] {
            assert_eq!(find(path, &method).is_ok(), found, "{method} {path}");
        }
    }
}
