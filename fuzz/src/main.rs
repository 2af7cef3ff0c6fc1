//! The fuzzer, one program for all targets: `FUZZ_TARGET` names the one to run.
//!
//! `FUZZ_TARGET=list` prints their names, `FUZZ_TARGET=seeds` writes the seed inputs into `corpus/`, and
//! `FUZZ_TARGET=keep` writes the inputs in `least/` into `kept/`.
//!
//! Built with `FUZZ_ONLY=NAME` it contains only that target. Its coverage is scanned after each input, so the smaller
//! program is several times as fast.

#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use phigate_fuzz::{TARGETS, Target, keep, kept};

/// The only target of this program.
const ONLY: Option<&Target> = match option_env!("FUZZ_ONLY") {
    Some(name) => Some(with_name(name)),
    None => None,
};

static CHOSEN: OnceLock<&Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(init: choose(), |bytes: &[u8]| {
    match const { ONLY } {
        Some(target) => (target.run)(bytes),
        None => CHOSEN.get().iter().for_each(|target| (target.run)(bytes)),
    }
});

/// Finds the named target, or runs another command and exits.
fn choose() {
    if const { ONLY.is_some() } {
        return;
    }
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let each: fn(&Target) = match name.as_str() {
        "list" => |target| println!("{}", target.name),
        "seeds" => write_seeds,
        "keep" => write_kept,
        name => {
            let found = TARGETS.iter().find(|target| target.name == name);
            let found = found.expect("FUZZ_TARGET names a target; FUZZ_TARGET=list shows them");
            CHOSEN.get_or_init(|| found);
            return;
        }
    };
    TARGETS.iter().for_each(each);
    std::process::exit(0);
}

/// Finds a target at compile time.
const fn with_name(name: &str) -> &'static Target {
    let mut place = 0;
    while place < TARGETS.len() {
        if is_same(TARGETS[place].name.as_bytes(), name.as_bytes()) {
            return &TARGETS[place];
        }
        place += 1;
    }
    panic!("FUZZ_ONLY names a target");
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut place = 0;
    while place < one.len() && place < other.len() && one[place] == other[place] {
        place += 1;
    }
    place == one.len() && place == other.len()
}

fn write_seeds(target: &Target) {
    let folder = Path::new("corpus").join(target.name);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let seeds = target.seeds.iter().map(|seed| seed.to_vec());
    for (number, input) in seeds.chain(kept(target.name)).enumerate() {
        std::fs::write(folder.join(format!("seed-{number}")), input).expect("it can be written");
    }
}

fn write_kept(target: &Target) {
    let Ok(folder) = std::fs::read_dir(Path::new("least").join(target.name)) else {
        return;
    };
    let inputs = folder.flatten().map(|entry| std::fs::read(entry.path()));
    keep(
        target.name,
        inputs.map(|input| input.expect("it can be read")).collect(),
    );
}
