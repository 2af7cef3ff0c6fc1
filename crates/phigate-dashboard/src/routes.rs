//! Every route of the dashboard with its permission: one table, enforced in one place.

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};
use http::{Method, Uri};
use phigate_store::Role;

use super::access::{Needs, gate};
use super::layout::NavItem;
use super::pages::{
    account, acts, audit, export, find, help, installation, keys, login, overview, playground,
    provider, providers, record, settings, setup, users, verify,
};
use super::visit::redirect;
use super::{Dash, assets};

/// A route: address, permission, handler.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) needs: Needs,
    handler: fn(MethodFilter) -> MethodRouter<Dash>,
}

macro_rules! route {
    ($method:ident $path:literal $needs:ident $handler:path) => {
        Route {
            method: Method::$method,
            path: $path,
            needs: Needs::$needs,
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
    // For auditors and owners.
    route!(GET "/" Auditor overview::show),
    route!(POST "/logout" Auditor login::sign_out),
    route!(POST "/theme" Auditor account::set_theme),
    route!(GET "/account" Auditor account::show),
    route!(POST "/account/password" Auditor account::change_password),
    route!(POST "/account/totp" Auditor account::offer_totp),
    route!(POST "/account/totp/confirm" Auditor account::confirm_totp),
    route!(POST "/account/totp/remove" Auditor account::remove_totp),
    route!(POST "/account/recovery" Auditor account::make_recovery_codes),
    route!(POST "/account/sessions/revoke" Auditor account::revoke_session),
    route!(GET "/audit" Auditor audit::show),
    route!(GET "/audit/administration" Auditor acts::show),
    route!(GET "/audit/export" Auditor export::export),
    route!(GET "/audit/find" Auditor find::show),
    route!(POST "/audit/find" Auditor find::find),
    route!(GET "/audit/integrity" Auditor verify::show),
    route!(POST "/audit/verify" Auditor verify::verify),
    route!(GET "/audit/{request_id}" Auditor record::show),
    route!(POST "/audit/{request_id}/reveal" Auditor record::reveal),
    route!(GET "/playground" Auditor playground::show),
    route!(POST "/playground" Auditor playground::scan),
    route!(GET "/help" Auditor help::show),
    // For owners.
    route!(GET "/audit/installation" Owner installation::show),
    route!(POST "/playground/send" Owner playground::send),
    route!(POST "/playground/stream" Owner playground::stream),
    route!(GET "/settings" Owner settings::show),
    route!(POST "/settings" Owner settings::save_mode),
    route!(GET "/settings/replies" Owner settings::replies::show),
    route!(POST "/settings/replies" Owner settings::replies::save_form),
    route!(GET "/settings/detection" Owner settings::detection::show),
    route!(POST "/settings/detection" Owner settings::detection::save_form),
    route!(GET "/settings/retention" Owner settings::retention::show),
    route!(POST "/settings/retention" Owner settings::retention::save_form),
    route!(GET "/settings/limits" Owner settings::limits::show),
    route!(POST "/settings/limits" Owner settings::limits::save_form),
    route!(GET "/settings/sign-in" Owner settings::sign_in::show),
    route!(POST "/settings/sign-in" Owner settings::sign_in::save_form),
    route!(GET "/providers" Owner providers::show),
    route!(GET "/providers/add/{preset}" Owner provider::add),
    route!(POST "/providers/add/{preset}" Owner provider::create),
    route!(POST "/providers/aliases" Owner providers::save_aliases),
    route!(POST "/providers/fallbacks" Owner providers::save_fallbacks),
    route!(POST "/providers/{family}" Owner providers::save),
    route!(POST "/providers/{family}/test" Owner providers::test),
    route!(POST "/providers/{family}/remove" Owner providers::remove),
    route!(GET "/provider/{provider}" Owner provider::show),
    route!(POST "/provider/{provider}" Owner provider::save),
    route!(POST "/provider/{provider}/test" Owner provider::test),
    route!(POST "/provider/{provider}/remove" Owner provider::remove),
    route!(GET "/keys" Owner keys::show),
    route!(POST "/keys" Owner keys::create),
    route!(POST "/keys/{id}/revoke" Owner keys::revoke),
    route!(POST "/keys/{id}/rotate" Owner keys::rotate),
    route!(GET "/users" Owner users::show),
    route!(POST "/users" Owner users::invite),
    route!(POST "/users/remove" Owner users::remove),
    route!(POST "/users/role" Owner users::set_role),
    route!(POST "/users/sign-out" Owner users::sign_out),
    route!(POST "/users/withdraw" Owner users::withdraw),
];

/// The router that the table describes.
pub(crate) fn router(dash: &Dash) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let gate = from_fn_with_state((dash.clone(), route.needs), gate);
        let method =
            MethodFilter::try_from(route.method.clone()).expect("GET and POST have filters");
        router = router.route(route.path, (route.handler)(method).layer(gate));
    }
    for route in ROUTES.iter().filter(|route| !is_page(route.path)) {
        router = router.route(route.path, on(MethodFilter::GET, go_up));
    }
    router.with_state(dash.clone())
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

/// The pages a role may open.
pub(crate) fn navigation(role: Role, current: &str) -> Vec<NavItem> {
    PLACES
        .iter()
        .filter(|place| {
            ROUTES
                .iter()
                .any(|route| route.path == place.href && route.needs.admits(role))
        })
        .map(|place| NavItem {
            href: place.href,
            label: place.label,
            icon: place.icon,
            current: place.href == current,
        })
        .collect()
}
