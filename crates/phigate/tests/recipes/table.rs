//! The recipes, one row each.

/// Changes that one more thing of a kind needs.
pub(crate) struct Recipe {
    /// Name of the kind of thing.
    pub(crate) name: &'static str,
    pub(crate) new: &'static [New],
    /// Lines in existing files: the file, the line before them, and the lines.
    pub(crate) lines: &'static [(&'static str, &'static str, &'static str)],
}

/// A new file or folder.
pub(crate) struct New {
    pub(crate) path: &'static str,
    pub(crate) source: Source,
}

/// Source of a new file's text.
pub(crate) enum Source {
    /// Text written here.
    Text(&'static str),
    /// Copy of an existing file, with words replaced.
    Like(&'static str, &'static [(&'static str, &'static str)]),
}

/// Commands that run after all recipes were followed.
pub(crate) const PROOFS: &[&[&str]] = &[
    // The kind finds its examples, and every other kind still finds its own.
    &["test", "-p", "phi-detect", "--test", "all", "tables::"],
    // The mode, the act and the family are known by their codes.
    &["test", "-p", "phigate-types", "--lib"],
    // The door's requests are walked over, and the family is spoken to.
    &["test", "-p", "phigate-core", "--lib"],
];

/// The row of a kind of provider, after the last one's end.
const KIND_ROW: &str = r#"            }
            /// Twin.
            Twin "twin" speaks twin {
                label: "Twin",
                convention: "twin",
                has_family: true,
                address: Some("https://twin.example"),
                global_address: None,
                key_header: "x-api-key",
                auth: &[AuthMethod::Key],
                options: &[ProviderOption::BaseUrl],
                needs: &[],"#;

pub(crate) const RECIPES: &[Recipe] = &[
    Recipe {
        name: "a kind of PHI",
        new: &[New {
            path: "crates/phi-detect/src/kinds/twin.rs",
            source: Source::Like(
                "crates/phi-detect/src/kinds/npi.rs",
                &[("npi", "twin"), ("NPI", "TWIN")],
            ),
        }],
        lines: &[
            (
                "crates/phi-detect/src/kinds/mod.rs",
                "mod ssn;",
                "mod twin;",
            ),
            (
                "crates/phi-detect/src/kinds/mod.rs",
                "    &npi::RULE,",
                "    &twin::RULE,",
            ),
        ],
    },
    Recipe {
        name: "a handling mode",
        new: &[New {
            path: "crates/phigate-types/src/modes/twin.rs",
            source: Source::Text(include_str!("mode.rs")),
        }],
        lines: &[
            (
                "crates/phigate-types/src/modes/mod.rs",
                "mod redact;",
                "mod twin;",
            ),
            (
                "crates/phigate-types/src/modes/mod.rs",
                "    Mode::MASK,",
                "    Mode::TRUNCATE,",
            ),
        ],
    },
    Recipe {
        name: "an act of administration",
        new: &[],
        lines: &[(
            "crates/phigate-types/src/act.rs",
            "    AuditFind \"audit.find\" \"Identifier looked up\" Warn;",
            "    AuditTwin \"audit.twin\" \"Record doubled\" Plain;",
        )],
    },
    Recipe {
        name: "an error code",
        new: &[],
        lines: &[(
            "crates/phigate-types/src/error_code.rs",
            "    ShuttingDown \"shutting_down\" Gateway 503 \"The gateway is shutting down.\";",
            "    Twinned \"twinned\" Request 400 \"The request came twice.\";",
        )],
    },
    Recipe {
        name: "a provider family",
        new: &[New {
            path: "crates/phigate-core/src/wire/twin/",
            source: Source::Like(
                "crates/phigate-core/src/wire/google",
                &[("Google", "Twin"), ("\"gemini-", "\"twin-")],
            ),
        }],
        lines: &[
            (
                "crates/phigate-core/src/wire/mod.rs",
                "mod translate;",
                "mod twin;",
            ),
            (
                "crates/phigate-types/src/provider_kind.rs",
                "                needs: &[ProviderOption::Project, ProviderOption::Region],",
                KIND_ROW,
            ),
        ],
    },
    Recipe {
        name: "a storage engine",
        new: &[New {
            path: "crates/phigate-store/src/twin/",
            source: Source::Like(
                "crates/phigate-store/src/sqlite",
                &[("crate::sqlite", "crate::twin"), ("Sqlite", "Twin")],
            ),
        }],
        lines: &[
            ("crates/phigate-store/src/lib.rs", "mod trail;", "mod twin;"),
            (
                "crates/phigate-store/src/backend.rs",
                "    // Alphabetical, one row per folder.",
                "    Backend {\n        name: \"twin\",\n        schemes: &[\"twin://\"],\n        open: |address, how| Box::pin(async move {\n            let store = crate::twin::Twin::open(std::path::Path::new(address), how)?;\n            Ok(Arc::new(store) as Arc<dyn Store>)\n        }),\n    },",
            ),
        ],
    },
    Recipe {
        name: "a door",
        new: &[New {
            path: "crates/phigate-core/src/doors/twin/",
            source: Source::Like(
                "crates/phigate-core/src/doors/embeddings",
                &[
                    ("EMBEDDINGS", "TWIN"),
                    ("embeddings", "twins"),
                    ("Embeddings", "Twins"),
                ],
            ),
        }],
        lines: &[
            (
                "crates/phigate-core/src/doors/mod.rs",
                "mod silent;",
                "mod twin;",
            ),
            (
                "crates/phigate-core/src/doors/mod.rs",
                "pub use responses::RESPONSES;",
                "pub use twin::TWIN;",
            ),
            (
                "crates/phigate-core/src/doors/mod.rs",
                "    &COMPLETIONS,",
                "    &TWIN,",
            ),
        ],
    },
    Recipe {
        name: "a page",
        new: &[
            New {
                path: "crates/phigate-dashboard/src/pages/twin.rs",
                source: Source::Text(include_str!("page.rs")),
            },
            New {
                path: "crates/phigate-dashboard/templates/twin.html",
                source: Source::Text(include_str!("page.html")),
            },
        ],
        lines: &[
            (
                "crates/phigate-dashboard/src/pages/mod.rs",
                "pub(crate) mod terms;",
                "pub(crate) mod twin;",
            ),
            (
                "crates/phigate-dashboard/src/routes.rs",
                "    route!(GET \"/help\" Member help::show),",
                "    route!(GET \"/twin\" Member super::pages::twin::show),",
            ),
        ],
    },
    Recipe {
        name: "a command",
        new: &[New {
            path: "crates/phigate/src/cli/twin.rs",
            source: Source::Text(include_str!("command.rs")),
        }],
        lines: &[
            (
                "crates/phigate/src/cli/mod.rs",
                "mod transfer;",
                "mod twin;",
            ),
            (
                "crates/phigate/src/cli/mod.rs",
                "    Doctor(doctor::Doctor),",
                "    /// Say that it is there\n    Twin,",
            ),
            (
                "crates/phigate/src/cli/mod.rs",
                "        Command::Openapi => openapi::run(),",
                "        Command::Twin => twin::run(),",
            ),
        ],
    },
];
