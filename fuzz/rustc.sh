#!/bin/sh
# Compiles the workspace's crates for the fuzzer (run.sh sets RUSTC_WORKSPACE_WRAPPER): optimised, with checks and coverage
# feedback, on any toolchain. Dependencies come from the ordinary debug build.
case " $* " in
*" --crate-name phi"*)
    exec "$@" -Copt-level=2 -Ccodegen-units=1 -Cdebug-assertions=on -Coverflow-checks=on -Cpasses=sancov-module \
        -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
        -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares
    ;;
*) exec "$@" ;;
esac
