//! The C functions of native/check.h, made safe.
use crate::wire::Finding;
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

#[repr(C)]
#[derive(Clone, Copy)]
struct Text {
    data: *const u8,
    size: usize,
}

impl Text {
    fn of(s: &str) -> Text {
        Text { data: s.as_ptr(), size: s.len() }
    }

    /// # Safety
    /// Data and size are those of bytes that live during the call.
    unsafe fn string(self) -> String {
        if self.size == 0 {
            return String::new();
        }
        let bytes = unsafe { std::slice::from_raw_parts(self.data, self.size) };
        String::from_utf8_lossy(bytes).into_owned()
    }
}

#[repr(C)]
struct RawFinding {
    kind: Text,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    declared: u32,
    path: Text,
    field: Text,
    name: Text,
    wanted: Text,
    given: Text,
    text: Text,
    names: *const Text,
    name_count: usize,
    all_names: u32,
}

#[repr(C)]
struct Host {
    context: *mut c_void,
    found: unsafe extern "C" fn(*mut c_void, *const RawFinding),
    resolve: unsafe extern "C" fn(*mut c_void, Text, Text, *mut Text, *mut Text) -> c_int,
}

#[repr(C)]
struct RawDefinitions {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn lc_start();
    fn lc_flags(host: *const Host);
    fn lc_load(text: Text, host: *const Host, status: *mut c_int) -> *mut RawDefinitions;
    fn lc_drop(definitions: *mut RawDefinitions);
    fn lc_check(
        definitions: *mut RawDefinitions,
        module: Text,
        source: Text,
        strict: c_int,
        seconds: f64,
        host: *const Host,
    ) -> c_int;
    fn lc_forget(definitions: *mut RawDefinitions);
}

/// The exit code of native/check.h that is given from here.
pub const EXIT_TIMEOUT: i32 = 3;

/// How a check ended.
#[derive(PartialEq)]
pub enum Status {
    Done,
    Timeout,
    Failed,
}

impl Status {
    fn of(code: c_int) -> Status {
        match code {
            0 => Status::Done,
            1 => Status::Timeout,
            _ => Status::Failed,
        }
    }
}

/// Finds the module that one requires by a name: its own name and source, or why there is none.
pub type Resolve<'a> = dyn FnMut(&str, &str) -> Result<(String, String), String> + 'a;

struct Context<'a, 'b> {
    findings: Vec<Finding>,
    resolve: &'a mut Resolve<'b>,
    answer: (String, String), // kept until the next question: C reads it after the callback
}

unsafe extern "C" fn found(context: *mut c_void, raw: *const RawFinding) {
    unsafe {
        let (context, raw) = (&mut *(context as *mut Context), &*raw);
        let names = match raw.name_count {
            0 => &[],
            n => std::slice::from_raw_parts(raw.names, n),
        };
        context.findings.push(Finding {
            kind: raw.kind.string(),
            line: raw.line,
            column: raw.column,
            end_line: raw.end_line,
            end_column: raw.end_column,
            declared: raw.declared != 0,
            path: raw.path.string(),
            field: raw.field.string(),
            name: raw.name.string(),
            wanted: raw.wanted.string(),
            given: raw.given.string(),
            message: raw.text.string(),
            names: names.iter().map(|n| n.string()).collect(),
            all_names: raw.all_names != 0,
        });
    }
}

unsafe extern "C" fn resolve(
    context: *mut c_void,
    from: Text,
    name: Text,
    module: *mut Text,
    source: *mut Text,
) -> c_int {
    unsafe {
        let context = &mut *(context as *mut Context);
        let answer = (context.resolve)(&from.string(), &name.string());
        let there = answer.is_ok();
        context.answer = answer.unwrap_or_else(|reason| (String::new(), reason));
        *module = Text::of(&context.answer.0);
        *source = Text::of(&context.answer.1);
        c_int::from(there)
    }
}

fn with_host<R>(ask: &mut Resolve, call: impl FnOnce(*const Host) -> R) -> (R, Vec<Finding>) {
    let mut context = Context { findings: Vec::new(), resolve: ask, answer: Default::default() };
    let host = Host { context: (&raw mut context).cast(), found, resolve };
    let result = call(&host);
    (result, context.findings)
}

fn nobody(_: &str, _: &str) -> Result<(String, String), String> {
    Err("modules cannot be required here".into())
}

/// Turns Luau's fast flags on.
pub fn start() {
    unsafe { lc_start() }
}

/// Luau's fast flags.
pub fn flags() -> Vec<Finding> {
    with_host(&mut nobody, |host| unsafe { lc_flags(host) }).1
}

/// A loaded set of definitions.
pub struct Definitions(NonNull<RawDefinitions>);

impl Definitions {
    pub fn load(text: &str) -> Result<Definitions, Vec<Finding>> {
        let mut status = 0;
        let (made, findings) = with_host(&mut nobody, |host| unsafe { lc_load(Text::of(text), host, &mut status) });
        NonNull::new(made).map(Definitions).ok_or(findings)
    }

    pub fn check(
        &mut self,
        module: &str,
        source: &str,
        strict: bool,
        seconds: f64,
        ask: &mut Resolve,
    ) -> (Status, Vec<Finding>) {
        let (code, findings) = with_host(ask, |host| unsafe {
            lc_check(self.0.as_ptr(), Text::of(module), Text::of(source), c_int::from(strict), seconds, host)
        });
        (Status::of(code), findings)
    }

    pub fn forget(&mut self) {
        unsafe { lc_forget(self.0.as_ptr()) }
    }
}

impl Drop for Definitions {
    fn drop(&mut self) {
        unsafe { lc_drop(self.0.as_ptr()) }
    }
}
