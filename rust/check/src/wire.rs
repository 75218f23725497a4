//! What goes over the pipes: one JSON value in a line.
use serde::{Deserialize, Serialize};

/// The first line that is written. `PROTOCOL` changes when an older client would not understand.
pub const PROTOCOL: u32 = 1;

#[derive(Serialize)]
pub struct Hello {
    pub luau_check: &'static str,
    pub protocol: u32,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Request {
    /// Loads a set of definitions under a name.
    Load {
        id: u64,
        definitions: String,
        text: String,
        seconds: f64,
    },
    /// Checks a source against a set. `modules` is the version of what can be required: while it stays the same and is not
    /// empty, modules are read once.
    Check {
        id: u64,
        definitions: String,
        module: String,
        source: String,
        strict: bool,
        seconds: f64,
        #[serde(default)]
        modules: String,
    },
    Drop {
        id: u64,
        definitions: String,
    },
}

#[derive(Serialize)]
pub struct Answer {
    pub id: u64,
    /// "definitions", "unknown_definitions", "timeout", "internal"; none: it went well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<&'static str>,
    pub findings: Vec<Finding>,
}

/// Asks for a module in the middle of a check. The next line read is the `Module`.
#[derive(Serialize)]
pub struct Question<'a> {
    pub ask: Wanted<'a>,
}

#[derive(Serialize)]
pub struct Wanted<'a> {
    pub from: &'a str,
    pub name: &'a str,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Module {
    Found { module: String, source: String },
    Missing(String),
}

#[derive(Serialize)]
pub struct Finding {
    pub kind: String,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    #[serde(skip_serializing_if = "is_false")]
    pub declared: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub wanted: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub given: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    #[serde(skip_serializing_if = "is_false")]
    pub all_names: bool,
}

fn is_false(b: &bool) -> bool {
    !*b
}
