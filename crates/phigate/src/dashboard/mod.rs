//! The pages where an owner runs the account and an auditor finds the truth.
