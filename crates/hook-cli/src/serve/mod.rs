//! `hook serve`: engines that are kept warm for every `hook dispatch` of this user, and what goes on between events: hooks that are
//! woken, files that are watched, MCP servers that stay connected.
//!
//! A dispatch that finds no server, or one that it does not trust, does the same work itself. So the server is a matter of speed,
//! never of what is decided.

pub(crate) mod client;
mod http;
mod metrics;
mod peer;
mod place;
mod server;
mod socket;
mod stamped;
mod supervise;
mod warm;
mod webhook;
pub(crate) mod wire;
mod worker;

use std::fmt::Write;
use std::io::Read;

use serde_json::Value;

use crate::args::ServeArgs;
use crate::error::CliError;
use crate::world::World;
use crate::{exit, output};

pub(crate) use worker::loopback;

use wire::Ask;

pub(crate) fn serve(args: &ServeArgs) -> Result<u8, CliError> {
    if args.worker {
        return worker::work(args);
    }
    let world = World::of_process();
    if args.status {
        return status(&world, args.json);
    }
    if args.stop {
        return stop(&world);
    }
    if args.detach { supervise::detach(&world) } else { supervise::watch(args) }
}

fn nowhere() -> CliError {
    CliError::usage("there is no directory for state").help("set HOME or XDG_STATE_HOME")
}

fn none_runs() -> CliError {
    CliError::refused("no server runs").help("`hook serve --detach` starts one")
}

fn status(world: &World, json: bool) -> Result<u8, CliError> {
    let Some((body, _)) = client::question(world, Ask::Status)? else { return Err(none_runs()) };
    let status: Value = serde_json::from_slice(&body)
        .map_err(|error| CliError::data(format!("the server's status cannot be read: {error}")))?;
    if json {
        output::data(&format!("{status:#}\n"))?;
        return Ok(exit::OK);
    }
    let text = |name: &str| match &status[name] {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    };
    let mut out = String::new();
    let _ = writeln!(out, "process {} of version {}, since {}", text("pid"), text("version"), text("since"));
    let _ = writeln!(out, "socket  {}", text("socket"));
    match status["http"].as_str() {
        Some(http) => {
            let _ = writeln!(out, "http    {http}, token in {}", text("token_file"));
        }
        None => out.push_str("http    off\n"),
    }
    let _ = writeln!(out, "events  {} answered, {} declined", text("answered"), text("declined"));
    match status["trouble"].as_str() {
        Some(trouble) => {
            let _ = writeln!(out, "rewakes {trouble}");
        }
        None => {
            let _ = writeln!(out, "rewakes {} waiting", text("pending"));
        }
    }
    for engine in status["engines"].as_array().into_iter().flatten() {
        let member = |name: &str| engine[name].as_str().unwrap_or_default();
        let _ =
            writeln!(out, "engine  {}, {}: {} hooks", member("agent"), member("project"), engine["hooks"]);
    }
    output::data(&output::harmless(&out))?;
    Ok(exit::OK)
}

fn stop(world: &World) -> Result<u8, CliError> {
    let Some((_, mut server)) = client::question(world, Ask::Stop)? else { return Err(none_runs()) };
    // The connection ends with the server.
    let _ = server.read(&mut [0]);
    output::data("ended\n")?;
    Ok(exit::OK)
}
