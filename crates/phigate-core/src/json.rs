//! Strict JSON with the byte range of everything, so that rewriting is splicing.
