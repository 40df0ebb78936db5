//! Cases of `aimon/template`.

use anyhow::{Context, Result};
use hook_engine::exec::template::{Renderer, Syntax, Values};
use serde_json::{Value, json};

use crate::check::Check;

pub(super) fn template(check: &mut Check<'_>) -> Result<()> {
    let [template, input, env, allowed, context] =
        ["template", "tool_input", "env", "allowed", "context"].map(|key| check.given_value(key));
    let env = env.as_object().context("given.env is no object")?;
    let allowed = allowed.as_array().context("given.allowed is no list")?;
    let values = Values {
        tool_input: &input,
        context: context.as_object().context("given.context is no object")?,
        variable: &|name| Some(env.get(name)?.as_str()?.to_owned()),
        allowed: &|name| allowed.iter().any(|allowed| allowed == name),
    };
    let mut renderer = Renderer::new(values);
    let rendered = match &template {
        Value::String(text) => json!(renderer.text(text, Syntax::Dotted)),
        document => renderer.texts(document, Syntax::Dotted),
    };
    check.equals("rendered", &rendered);
    Ok(())
}
