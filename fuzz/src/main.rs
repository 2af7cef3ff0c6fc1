//! One program for all targets: `FUZZ_TARGET` names the one to run.
//!
//! `FUZZ_TARGET=list` prints their names, and `FUZZ_TARGET=seeds` writes the inputs to begin with into `corpus/`.

#![no_main]

mod cuts;
mod detectors;
mod targets;

libfuzzer_sys::fuzz_target!(init: targets::choose(), |bytes: &[u8]| {
    targets::run(bytes);
});
