//! Serial numbers of implants and devices.

use super::{Number, PhiRule};
use crate::spelling::Spelling;

pub(super) static RULE: PhiRule = PhiRule {
    code: "device",
    label: "Device",
    placeholder: "[DEVICE]",
    summary: "Serial numbers of implants and devices by the words that introduce them, the serial of a UDI, IMEIs and MAC addresses.",
    not_found: "Models, lots and catalogue numbers.",
    authority: "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(M)",
    threshold: 0.5,
    is_on_by_default: false,
    labels: &[],
    keys: &[],
    cues: "serial|serial number|serial no|serial id|serialnumber|s n|sn|ser no|implant serial|device serial|device serial number|device id|implant id|imei|imei number|mac address|wifi mac|bluetooth mac|mac",
    number: Some(Number {
        length: 5..=20,
        digits_min: 4,
        is_valid: |_| true,
    }),
    weights: &[],
    hits: &[
        "Pacemaker serial number «PJN551207» interrogated.",
        "S/N «RNB551207H»",
        "UDI (01)00844588003288(17)261231(21)«A551B2»",
        "MAC «00:1B:44:55:12:07»",
        "IMEI «490154203237518»",
    ],
    misses: &[
        "Mesh lot number A2231B",
        "Sputum positive for MAC",
        "Serial troponins flat",
        "model W1DR01",
    ],
    spelling: Spelling::Code,
    generalize: None,
    precedence: 0.1,
};
