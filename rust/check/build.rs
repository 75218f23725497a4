//! Links the archive that check.mk builds.
use std::{env, path::Path};

fn main() {
    println!("cargo:rerun-if-env-changed=HUKILAU_CHECK_LIB");
    let archive = env::var("HUKILAU_CHECK_LIB").expect("HUKILAU_CHECK_LIB names libluaucheck.a: run make build");
    println!("cargo:rerun-if-changed={archive}");
    let folder = Path::new(&archive).parent().expect("the archive is in a folder");
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=static=luaucheck");
    println!("cargo:rustc-link-lib=dylib=stdc++");
}
