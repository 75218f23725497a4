//! Answers measurements of mlua on its standard input: `name [path] seconds` is answered by
//! nanoseconds of one operation, or bytes.

use mlua::{Function, Lua, LuaSerdeExt, Result, Value};
use std::future::Future;
use std::io::{self, BufRead, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

/// CPU time of this process, in seconds.
fn cpu() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: t is a valid place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

fn each(least: f64, mut run: impl FnMut(usize) -> Result<()>) -> Result<f64> {
    let mut n = 1;
    loop {
        let from = cpu();
        run(n)?;
        let took = cpu() - from;
        if took >= least {
            return Ok(took * 1e9 / n as f64);
        }
        n *= 2;
    }
}

fn sandboxed() -> Result<Lua> {
    let lua = Lua::new();
    lua.sandbox(true)?;
    Ok(lua)
}

const LOOP: &str = "local host = ... return function(n) for i = 1, n do host(i) end end";

fn looping(lua: &Lua, host: Function) -> Result<Function> {
    lua.load(LOOP).call(host)
}

fn callback(least: f64) -> Result<f64> {
    let lua = sandboxed()?;
    let host = lua.create_function(|_, n: f64| Ok(n + 1.0))?;
    let work = looping(&lua, host)?;
    each(least, |n| work.call(n))
}

fn ready(least: f64) -> Result<f64> {
    let lua = sandboxed()?;
    let host = lua.create_async_function(|_, n: f64| async move { Ok(n + 1.0) })?;
    let work = looping(&lua, host)?;
    each(least, |n| futures::executor::block_on(work.call_async(n)))
}

/// Pending once; the waker is called at once, so the executor polls again at once.
struct Once(bool);

impl Future for Once {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

fn pending(least: f64) -> Result<f64> {
    let lua = sandboxed()?;
    let host = lua.create_async_function(|_, n: f64| async move {
        Once(false).await;
        Ok(n + 1.0)
    })?;
    let work = looping(&lua, host)?;
    each(least, |n| futures::executor::block_on(work.call_async(n)))
}

/// A small tool in a new VM.
fn invoke(least: f64) -> Result<f64> {
    let args = serde_json::json!({"x": 1.0, "y": 2.0});
    let code = mlua::chunk::Compiler::new().compile("return function(a) return { sum = a.x + a.y } end")?;
    each(least, |n| {
        for _ in 0..n {
            let lua = sandboxed()?;
            let tool: Function = lua.load(&code).set_mode(mlua::chunk::ChunkMode::Binary).eval()?;
            let out: Value = tool.call(lua.to_value(&args)?)?;
            let out: serde_json::Value = lua.from_value(out)?;
            assert_eq!(out["sum"], 3);
        }
        Ok(())
    })
}

fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: f64 = text.split(' ').nth(1).expect("resident pages").parse().expect("a number");
    pages * 4096.0
}

fn idle() -> Result<f64> {
    const COUNT: usize = 500;
    let before = resident();
    let vms = (0..COUNT).map(|_| sandboxed()).collect::<Result<Vec<_>>>()?;
    let after = resident();
    drop(vms);
    Ok((after - before) / COUNT as f64)
}

fn out(least: f64, source: &str) -> Result<f64> {
    let lua = sandboxed()?;
    let work: Function = lua.load(source).eval()?;
    each(least, |n| {
        for _ in 0..n {
            let v: Value = work.call(())?;
            let _: serde_json::Value = lua.from_value(v)?;
        }
        Ok(())
    })
}

fn into(least: f64, v: serde_json::Value) -> Result<f64> {
    let lua = sandboxed()?;
    let work: Function = lua.load("return function(t) return t ~= nil end").eval()?;
    each(least, |n| {
        for _ in 0..n {
            let _: bool = work.call(lua.to_value(&v)?)?;
        }
        Ok(())
    })
}

fn json(least: f64, path: &str, encode: bool) -> Result<f64> {
    let lua = sandboxed()?;
    let decode = lua.create_function(|lua, text: mlua::LuaString| {
        let v: serde_json::Value = serde_json::from_slice(&text.as_bytes()).map_err(mlua::Error::external)?;
        lua.to_value(&v)
    })?;
    let to_json = lua.create_function(|_, v: Value| serde_json::to_string(&v).map_err(mlua::Error::external))?;
    let text = std::fs::read_to_string(path).map_err(mlua::Error::external)?;
    let source = "local decode, encode, text = ... local document = decode(text)
        return function(n) for i = 1, n do decode(text) end end, function(n) for i = 1, n do encode(document) end end";
    let (decoding, encoding): (Function, Function) = lua.load(source).call((decode, to_json, text))?;
    let work = if encode { encoding } else { decoding };
    each(least, |n| work.call(n))
}

fn answer(line: &str) -> Result<f64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let name = words.first().copied().unwrap_or_default();
    let least: f64 = words.last().and_then(|w| w.parse().ok()).unwrap_or_default();
    match name {
        "callback" => callback(least),
        "ready" => ready(least),
        "yield" => pending(least),
        "invoke" => invoke(least),
        "idle" => idle(),
        "map_out" => out(least, "local t = {} for i = 1, 1000 do t['key' .. i] = i end return function() return t end"),
        "array_out" => out(least, "local t = {} for i = 1, 1000 do t[i] = i + 0.5 end return function() return t end"),
        "map_in" => into(least, (1..=1000).map(|i| (format!("key{i}"), serde_json::json!(i as f64))).collect::<serde_json::Map<_, _>>().into()),
        "array_in" => into(least, (1..=1000).map(|i| serde_json::json!(i as f64 + 0.5)).collect::<Vec<_>>().into()),
        "decode" => json(least, words[1], false),
        "encode" => json(least, words[1], true),
        _ => Err(mlua::Error::runtime(format!("no such measurement: {line}"))),
    }
}

fn main() {
    for line in io::stdin().lock().lines().map_while(std::result::Result::ok) {
        match answer(&line) {
            Ok(v) => println!("{v}"),
            Err(e) => {
                eprintln!("bench-mlua: {e}");
                std::process::exit(1);
            }
        }
        io::stdout().flush().expect("standard output");
    }
}
