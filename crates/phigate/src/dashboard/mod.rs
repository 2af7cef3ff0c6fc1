//! The pages where an owner runs the account and an auditor finds the truth.

mod assets;
mod chart;
mod chrome;
mod pages;
mod view;
