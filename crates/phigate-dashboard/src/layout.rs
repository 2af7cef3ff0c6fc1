//! Layout around every page: navigation, the signed-in person, a notice about the last action.

use phigate_types::Roles;

use super::assets;

/// The frame of a page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layout {
    /// `auto`, `light` or `dark`.
    pub(crate) theme: Theme,
    /// The pages this role may open.
    pub(crate) nav: Vec<NavItem>,
    /// Email address of the signed-in person.
    pub(crate) email: String,
    /// Roles of the signed-in person.
    pub(crate) role: String,
    /// Name of the account.
    pub(crate) account: String,
    /// The token every form carries.
    pub(crate) csrf: String,
    /// Notice about the last action.
    pub(crate) notice: Option<Notice>,
    /// Whether the viewer's role may read the page, and not send its forms.
    pub(crate) is_read_only: bool,
    /// Pages that the viewer may open; `None` before signing in.
    pub(crate) opens: Option<(&'static Navigation, Roles)>,
}

/// Pages that each role may open. They follow from the table of routes, which lists pages, which use this module: so
/// they are handed in.
#[derive(Debug)]
pub(crate) struct Navigation {
    /// Lines of the navigation for roles; the second word is the current page.
    pub(crate) lines: fn(Roles, &str) -> Vec<NavItem>,
    /// Whether roles may open the page at an address.
    pub(crate) opens: fn(Roles, &str) -> bool,
}

impl Layout {
    /// The address of an asset.
    pub(crate) fn asset(&self, name: &str) -> &'static str {
        assets::address(name)
    }

    /// Whether the viewer may open the page at an address of ours: otherwise there is no link to it.
    pub(crate) fn opens(&self, address: &str) -> bool {
        self.opens
            .is_none_or(|(navigation, roles)| (navigation.opens)(roles, address))
    }

    /// Address of the current page, to come back to.
    pub(crate) fn here(&self) -> &'static str {
        self.nav
            .iter()
            .find(|item| item.current)
            .map_or("/account", |item| item.href)
    }

    /// The three choices of colours.
    pub(crate) fn themes(&self) -> Vec<ThemeChoice> {
        Theme::ALL
            .iter()
            .map(|theme| ThemeChoice {
                value: theme.code(),
                label: theme.label(),
                chosen: *theme == self.theme,
            })
            .collect()
    }
}

/// One line of the navigation.
#[derive(Debug, Clone)]
pub(crate) struct NavItem {
    pub(crate) href: &'static str,
    pub(crate) label: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) current: bool,
    /// Things there that wait for the viewer.
    pub(crate) count: usize,
}

/// One button of the colour switch.
#[derive(Debug, Clone)]
pub(crate) struct ThemeChoice {
    pub(crate) value: &'static str,
    pub(crate) label: &'static str,
    pub(crate) chosen: bool,
}

/// Colours that a viewer wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Theme {
    /// As the system says.
    #[default]
    Auto,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

impl Theme {
    const ALL: [Theme; 3] = [Theme::Auto, Theme::Light, Theme::Dark];

    /// The theme with this code, the system's own for anything else.
    pub(crate) fn from_code(code: &str) -> Theme {
        Theme::ALL
            .into_iter()
            .find(|theme| theme.code() == code)
            .unwrap_or_default()
    }

    /// The code kept in the cookie.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Theme::Auto => "auto",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Theme::Auto => "Auto",
            Theme::Light => "Light",
            Theme::Dark => "Dark",
        }
    }
}

impl std::fmt::Display for Theme {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.code())
    }
}

/// A word about what was just done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    /// `ok`, `bad`, `warn` or `info`: also the name of its icon.
    pub(crate) tone: &'static str,
    pub(crate) text: &'static str,
}

// After a write the browser is sent back with `?done=CODE`; only texts of this table can appear.
static DONE: &[(&str, &str)] = &[
    // Alphabetical.
    (
        "alert",
        "Acknowledged. The next alert of its kind shows again.",
    ),
    (
        "aliases",
        "Aliases saved. They apply to every request from now on.",
    ),
    (
        "approved",
        "Approved. The person who asked may see the content for 30 minutes.",
    ),
    (
        "asked",
        "Asked. The content is shown once another owner or auditor approves it; they see your request on their pages.",
    ),
    (
        "allow-removed",
        "Entry removed. Its value counts as PHI for every request from now on.",
    ),
    (
        "value-allowed",
        "Allowed. The value does not count as PHI for every request from now on.",
    ),
    (
        "codes",
        "New recovery codes created. The earlier ones no longer work.",
    ),
    (
        "declined",
        "Declined. The person who asked does not see the content.",
    ),
    (
        "fallbacks",
        "Fallbacks saved. They apply to every request from now on.",
    ),
    (
        "invitation",
        "Invitation withdrawn. Its link no longer works.",
    ),
    (
        "issuer",
        "Saved. Tokens of this issuer and audience act as the key from now on.",
    ),
    (
        "issuer-gone",
        "Issuer removed. Its tokens are refused from now on.",
    ),
    (
        "key-group",
        "Group saved. Its words of the policy hold for the key from now on.",
    ),
    ("key-revoked", "Key revoked. It is refused from now on."),
    (
        "letterhead",
        "Letterhead saved. Reports made from now on have it.",
    ),
    (
        "mode",
        "Saved. The mode is in force for every request from now on.",
    ),
    (
        "password",
        "Password changed. Every other session was signed out.",
    ),
    (
        "policy",
        "Policy saved. It applies to every request from now on.",
    ),
    (
        "provider",
        "Saved. The key is stored encrypted; only its last four characters will be shown.",
    ),
    (
        "provider-gone",
        "Provider removed. Nothing is sent there any more, and its secret is deleted.",
    ),
    (
        "provider-removed",
        "Key removed. Requests for these models are refused until you set a new one.",
    ),
    (
        "recognizer-saved",
        "Recognizer saved. It is looked for in every request from now on.",
    ),
    (
        "recognizer-removed",
        "Recognizer removed, with the words of the policy about its kind.",
    ),
    (
        "role",
        "Role changed. They were signed out everywhere and will have the new role when they sign in again.",
    ),
    (
        "roster-removed",
        "Roster removed. Its patients are no longer looked for by it.",
    ),
    ("session", "That session was signed out."),
    (
        "settings",
        "Settings saved. They apply to every request from now on.",
    ),
    ("signed-out", "You are signed out."),
    (
        "sso",
        "Saved. People sign in with the identity provider from now on. Press Test to see whether the settings work.",
    ),
    (
        "sso-off",
        "Single sign-on is off. Its sessions have ended, and passwords work again.",
    ),
    ("totp-off", "Second factor turned off."),
    (
        "totp-on",
        "Second factor turned on. You will be asked for a code when you sign in.",
    ),
    ("user-removed", "User removed and signed out everywhere."),
    (
        "welcome",
        "Welcome. Your login is ready. Under Your login you can protect it with a second factor.",
    ),
    (
        "withdrawn",
        "Withdrawn. Nobody is asked to approve it any more.",
    ),
];

/// The notice for a `done` code.
pub(crate) fn notice(code: &str) -> Option<Notice> {
    DONE.iter()
        .find(|(known, _)| *known == code)
        .map(|(_, text)| Notice { tone: "ok", text })
}
