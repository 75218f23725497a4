//! Empty on purpose: this package exists for its Cargo.lock.
