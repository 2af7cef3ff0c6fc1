//! A request translated for every provider: the output is JSON, without panics.

use phigate_core::egress;
use phigate_core::protect::{self, Outcome, Policy};
use phigate_core::request::{Request, RequestLimits};
use phigate_core::wire::{FORMATS, Site};
use phigate_types::Mode;

use super::Target;
use super::requests::{self, door};
use crate::detectors::QUICK;

pub(super) const TARGET: Target = Target {
    name: "translate",
    run,
    seeds: requests::TARGET.seeds,
};

fn run(bytes: &[u8]) {
    let Some((door, body)) = door(bytes) else {
        return;
    };
    let Ok(request) = Request::read(door.form, body.to_vec(), &RequestLimits::default()) else {
        return;
    };
    let policy = Policy::uniform(Mode::FLAG).allowing_unscannable(true);
    let model = request.model().to_owned();
    let Outcome::Forward(clean) = protect::apply(&policy, &QUICK, protect::scan(&QUICK, request))
    else {
        panic!("flag mode forwards everything");
    };
    for format in FORMATS {
        if !format.takes(door.form) {
            continue;
        }
        let site = Site::new(format.family(), &model);
        let Ok(written) = format.write_request(&clean, &site, &|_| "hash".to_owned()) else {
            continue;
        };
        let Ok(cleared) = egress::clear(&QUICK, written) else {
            continue;
        };
        let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(cleared.body()).is_ok();
        assert!(is_json, "{} is sent something else than JSON", format.id());
    }
}
