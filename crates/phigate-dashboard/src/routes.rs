//! Every route of the dashboard with its permission: one table, enforced in one place.

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};
use http::{Method, Uri};

use super::access::{Access, Needs, gate};
use super::layout::{NavItem, Navigation};
use super::pages::{
    account, acts, admin_keys, alerts, approvals, audit, export, find, help, installation, issuers,
    keys, login, not_phi, overview, playground, provider, providers, record, reports, settings,
    setup, sign_on, users, verify,
};
use super::visit::redirect;
use super::{Dash, assets};
use phigate_types::{Right, Roles};

/// A route: address, permission, handler.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) needs: Needs,
    handler: fn(MethodFilter) -> MethodRouter<Dash>,
}

macro_rules! needs {
    (Nobody) => {
        Needs::Nobody
    };
    (Provider) => {
        Needs::Provider
    };
    (Member) => {
        Needs::Member
    };
    ($right:ident) => {
        Needs::May(Right::$right)
    };
}

macro_rules! route {
    ($method:ident $path:literal $needs:ident $handler:path) => {
        Route {
            method: Method::$method,
            path: $path,
            needs: needs!($needs),
            handler: |method| on(method, $handler),
        }
    };
}

/// The table.
pub(crate) static ROUTES: &[Route] = &[
    // Open to all.
    route!(GET "/assets/{name}" Nobody assets::serve),
    route!(GET "/login" Nobody login::show),
    route!(POST "/login" Nobody login::sign_in),
    route!(GET "/setup/{token}" Nobody setup::show),
    route!(POST "/setup/{token}" Nobody setup::create),
    route!(GET "/login/sso/{account}" Nobody sign_on::begin),
    route!(GET "/login/sso/{account}/callback" Nobody sign_on::finish),
    // An identity provider, which has a signed token.
    route!(POST "/login/sso/{account}/backchannel-logout" Provider sign_on::sign_out),
    // Every role: a person's own login, and help.
    route!(POST "/logout" Member login::sign_out),
    route!(POST "/theme" Member account::set_theme),
    route!(GET "/account" Member account::show),
    route!(POST "/account/password" Member account::change_password),
    route!(POST "/account/totp" Member account::offer_totp),
    route!(POST "/account/totp/confirm" Member account::confirm_totp),
    route!(POST "/account/totp/remove" Member account::remove_totp),
    route!(POST "/account/recovery" Member account::make_recovery_codes),
    route!(POST "/account/sessions/revoke" Member account::revoke_session),
    route!(GET "/help" Member help::show),
    // By right: see `phigate_types::Role` for the roles that have it.
    route!(GET "/" Figures overview::show),
    route!(GET "/audit" Requests audit::show),
    route!(GET "/audit/administration" Trail acts::show),
    route!(GET "/audit/looks" Reveal approvals::show),
    route!(POST "/audit/looks/{id}/approve" Reveal approvals::approve),
    route!(POST "/audit/looks/{id}/decline" Reveal approvals::decline),
    route!(GET "/audit/export" Trail export::export),
    route!(GET "/audit/find" Reveal find::show),
    route!(POST "/audit/find" Reveal find::find),
    route!(GET "/audit/integrity" Trail verify::show),
    route!(POST "/audit/verify" Trail verify::verify),
    route!(GET "/audit/alerts" Trail alerts::show),
    route!(POST "/audit/alerts" Trail alerts::acknowledge),
    route!(GET "/audit/reports" Trail reports::show),
    route!(POST "/audit/reports" Trail reports::make_report),
    route!(POST "/audit/reports/patient" Reveal reports::make_for_patient),
    route!(POST "/audit/reports/letterhead" Configure reports::save_letterhead),
    route!(GET "/audit/{request_id}" Requests record::show),
    route!(POST "/audit/{request_id}/reveal" Reveal record::reveal),
    route!(POST "/audit/{request_id}/emergency" Reveal record::reveal_in_emergency),
    route!(POST "/audit/{request_id}/allow" Retention not_phi::allow),
    route!(GET "/playground" Requests playground::show),
    route!(POST "/playground" Requests playground::scan),
    route!(GET "/audit/installation" People installation::show),
    route!(POST "/playground/send" Configure playground::send),
    route!(POST "/playground/stream" Configure playground::stream),
    route!(GET "/settings" Settings settings::show),
    route!(POST "/settings" Configure settings::save_mode),
    route!(GET "/settings/policy" Settings settings::policy::show),
    route!(POST "/settings/policy" Configure settings::policy::save_form),
    route!(GET "/settings/allow" Settings settings::allow::show),
    route!(POST "/settings/allow" Configure settings::allow::add),
    route!(POST "/settings/allow/{entry}/remove" Configure settings::allow::remove),
    route!(GET "/settings/recognizers" Settings settings::recognizers::show),
    route!(POST "/settings/recognizers" Configure settings::recognizers::save),
    route!(POST "/settings/recognizers/{code}/remove" Configure settings::recognizers::remove),
    route!(GET "/settings/rosters" Settings settings::rosters::show),
    route!(POST "/settings/rosters/{roster}/remove" Configure settings::rosters::remove),
    route!(GET "/settings/replies" Settings settings::replies::show),
    route!(POST "/settings/replies" Configure settings::replies::save_form),
    route!(GET "/settings/detection" Settings settings::detection::show),
    route!(POST "/settings/detection" Configure settings::detection::save_form),
    route!(GET "/settings/retention" Settings settings::retention::show),
    route!(POST "/settings/retention" Retention settings::retention::save_form),
    route!(GET "/settings/limits" Settings settings::limits::show),
    route!(POST "/settings/limits" Configure settings::limits::save_form),
    route!(GET "/settings/sign-in" SeePeople settings::sign_in::show),
    route!(POST "/settings/sign-in" People settings::sign_in::save_form),
    route!(POST "/settings/sign-in/sso" People settings::single_sign_on::save),
    route!(POST "/settings/sign-in/sso/test" People settings::single_sign_on::test),
    route!(POST "/settings/sign-in/sso/off" People settings::single_sign_on::turn_off),
    route!(GET "/providers" Settings providers::show),
    route!(GET "/providers/add/{preset}" Settings provider::add),
    route!(POST "/providers/add/{preset}" Configure provider::create),
    route!(POST "/providers/aliases" Configure providers::save_aliases),
    route!(POST "/providers/fallbacks" Configure providers::save_fallbacks),
    route!(POST "/providers/{family}" Configure providers::save),
    route!(POST "/providers/{family}/test" Configure providers::test),
    route!(POST "/providers/{family}/remove" Configure providers::remove),
    route!(GET "/provider/{provider}" Settings provider::show),
    route!(POST "/provider/{provider}" Configure provider::save),
    route!(POST "/provider/{provider}/test" Configure provider::test),
    route!(POST "/provider/{provider}/remove" Configure provider::remove),
    route!(GET "/keys" Settings keys::show),
    route!(POST "/keys" Configure keys::create),
    route!(GET "/keys/issuers" Settings issuers::show),
    route!(POST "/keys/issuers" Configure issuers::save),
    route!(POST "/keys/issuers/remove" Configure issuers::remove),
    route!(GET "/keys/admin" SeePeople admin_keys::show),
    route!(POST "/keys/admin" People admin_keys::create),
    route!(POST "/keys/admin/{id}/revoke" People admin_keys::revoke),
    route!(POST "/keys/{id}/group" Configure keys::set_group),
    route!(POST "/keys/{id}/revoke" Configure keys::revoke),
    route!(POST "/keys/{id}/rotate" Configure keys::rotate),
    route!(GET "/users" SeePeople users::show),
    route!(POST "/users" People users::invite),
    route!(POST "/users/remove" People users::remove),
    route!(POST "/users/role" People users::set_role),
    route!(POST "/users/sign-out" People users::sign_out),
    route!(POST "/users/withdraw" People users::withdraw),
];

/// The router that the table describes.
pub(crate) fn router(dash: &Dash) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let gate = from_fn_with_state((dash.clone(), access(route)), gate);
        let method =
            MethodFilter::try_from(route.method.clone()).expect("GET and POST have filters");
        router = router.route(route.path, (route.handler)(method).layer(gate));
    }
    let is_lone_form = |route: &&Route| !is_page(route.path) && route.needs != Needs::Provider;
    for route in ROUTES.iter().filter(is_lone_form) {
        router = router.route(route.path, on(MethodFilter::GET, go_up));
    }
    router.with_state(dash.clone())
}

/// Permissions of a route: to open it, and to send the form at its address.
fn access(route: &Route) -> Access {
    let form = ROUTES
        .iter()
        .find(|other| other.method == Method::POST && other.path == route.path);
    Access {
        opens: route.needs,
        changes: form.map_or(route.needs, |form| form.needs),
    }
}

/// Whether there is a page at this path of the table.
fn is_page(path: &str) -> bool {
    ROUTES
        .iter()
        .any(|route| route.path == path && route.method == Method::GET)
}

/// An address that only takes a form, opened like a page: from a bookmark, a shared link, the address bar. Its page is
/// the nearest one above it.
async fn go_up(uri: Uri) -> Response {
    let mut path = uri.path();
    while let Some((above, _)) = path.rsplit_once('/') {
        path = above;
        if ROUTES
            .iter()
            .any(|route| is_page(route.path) && fits(route.path, path))
        {
            return redirect(path);
        }
    }
    redirect("/")
}

/// Whether a path is one of a pattern such as `/audit/{request_id}`.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.split('/'), path.split('/'));
    let is_same = |(wanted, found): (&str, &str)| wanted.starts_with('{') || wanted == found;
    pattern.clone().count() == path.clone().count() && pattern.zip(path).all(is_same)
}

struct Place {
    href: &'static str,
    label: &'static str,
    icon: &'static str,
}

static PLACES: &[Place] = &[
    // In the order of the navigation.
    Place {
        href: "/",
        label: "Overview",
        icon: "overview",
    },
    Place {
        href: "/audit",
        label: "Audit log",
        icon: "audit",
    },
    Place {
        href: "/playground",
        label: "Playground",
        icon: "playground",
    },
    Place {
        href: "/settings",
        label: "Settings",
        icon: "settings",
    },
    Place {
        href: "/providers",
        label: "Providers",
        icon: "providers",
    },
    Place {
        href: "/keys",
        label: "API keys",
        icon: "keys",
    },
    Place {
        href: "/users",
        label: "Users",
        icon: "users",
    },
    Place {
        href: "/help",
        label: "Help",
        icon: "help",
    },
];

/// Pages that each role may open, by the table of routes.
pub(crate) static NAVIGATION: Navigation = Navigation { lines, opens };

/// The navigation of a person with these roles.
fn lines(roles: Roles, current: &str) -> Vec<NavItem> {
    PLACES
        .iter()
        .filter(|place| opens(roles, place.href))
        .map(|place| NavItem {
            href: place.href,
            label: place.label,
            icon: place.icon,
            current: place.href == current,
            count: 0,
        })
        .collect()
}

/// Whether roles may open the page at an address of ours. A pattern of the table comes after its exact paths.
fn opens(roles: Roles, address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let pages = || ROUTES.iter().filter(|route| route.method == Method::GET);
    pages()
        .find(|route| route.path == path)
        .or_else(|| pages().find(|route| fits(route.path, path)))
        .is_some_and(|route| route.needs.admits(roles))
}
