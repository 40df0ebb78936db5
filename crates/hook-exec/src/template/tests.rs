use hook_core::Level;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn render(template: &str, syntax: Syntax, allowed: &[&str]) -> (String, Vec<String>) {
    let input = json!({
        "a": "x", "n": 3, "yes": true, "none": null, "list": [1, {"b": 2}], "o": {"p": {"q": "deep"}, "d-e": 1},
        "dollar": "${tool_input.a}$TOKEN", "quote": "\"hi\"", "a.b": "never",
    });
    let context = Map::from_iter([
        ("tool_name".to_owned(), json!("Bash")),
        ("iteration".to_owned(), json!("3")),
        ("fields".to_owned(), json!({"x": 1})),
    ]);
    let variable = |name: &str| match name {
        "TOKEN" => Some("secret".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    let allowed = |name: &str| allowed.contains(&name);
    let values = Values { tool_input: &input, context: &context, variable: &variable, allowed: &allowed };
    let mut renderer = Renderer::new(values);
    let text = renderer.text(template, syntax);
    (text, renderer.into_notes().into_iter().map(|note| note.text).collect())
}

#[test]
fn every_syntax_knows_its_own_placeholders_and_leaves_the_others() {
    use Syntax::{Both, Dotted, Path, Shell};
    for (syntax, template, expected) in [
        (Dotted, "${tool_input.a}-${tool_input.n}-${tool_input.yes}", "x-3-true"),
        (Dotted, "${tool_input.o.p.q}|${tool_input.o.d-e}", "deep|1"),
        (Dotted, "${tool_input.o}|${tool_input.list}", r#"{"p":{"q":"deep"},"d-e":1}|[1,{"b":2}]"#),
        (Dotted, "[${tool_input.none}${tool_input.x}${tool_input.list.0}${tool_input.a.b}]", "[]"),
        (Dotted, "${context.tool_name} ${context.iteration}", "Bash 3"),
        (Dotted, "${env.TOKEN}|${env.EMPTY}|${env.HOME}|${env.UNSET}", "secret|||"),
        (Dotted, "$${env.TOKEN}", "$secret"),
        (Dotted, "${tool_input.dollar}", "${tool_input.a}$TOKEN"),
        (Dotted, "{\"c\":\"${tool_input.quote}\"}", "{\"c\":\"\"hi\"\"}"),
        (
            Dotted,
            "$${foo.bar}${session_id}${ tool_input.a}${tool_input.a }${Tool_input.a}",
            "$${foo.bar}${session_id}${ tool_input.a}${tool_input.a }${Tool_input.a}",
        ),
        (
            Dotted,
            "${tool_input.0}${tool_input.}${tool_input}${}${$TOKEN",
            "${tool_input.0}${tool_input.}${tool_input}${}${$TOKEN",
        ),
        (Dotted, "${tool_input.${tool_input.a}}", "${tool_input.x}"),
        (Shell, "Bearer $TOKEN", "Bearer secret"),
        (Shell, "${TOKEN}x$TOKEN-$HOME.", "secretxsecret-."),
        (
            Shell,
            "$5 $$TOKEN ${TOKEN:-x} ${env.TOKEN} $ {TOKEN} é$",
            "$5 $secret ${TOKEN:-x} ${env.TOKEN} $ {TOKEN} é$",
        ),
        (
            Both,
            "$TOKEN ${TOKEN} ${env.TOKEN} ${tool_input.a} $HOME ${HOME}",
            "secret secret secret x $HOME ${HOME}",
        ),
        (Path, "${tool_input.a} ${tool_name} ${fields.x} ${tool_input.o.p.q} $TOKEN", "x Bash 1 deep $TOKEN"),
        (Path, "[${nothing.here}${tool_name.x}]", "[]"),
    ] {
        assert_eq!(
            render(template, syntax, &["TOKEN", "EMPTY", "UNSET"]).0,
            expected,
            "{syntax:?} {template}"
        );
    }
}

#[test]
fn what_is_empty_is_said_once_and_without_the_value() {
    let (text, notes) = render("$TOKEN$TOKEN", Syntax::Shell, &[]);
    assert_eq!(text, "");
    assert_eq!(
        notes,
        ["$TOKEN is empty: the variable TOKEN is not allowed (\"allowedEnvVars\", or the settings)"]
    );
    let (_, notes) = render("${env.UNSET} ${context.session_id}", Syntax::Dotted, &["UNSET"]);
    assert_eq!(
        notes,
        [
            "${env.UNSET} is empty: the variable UNSET is not set",
            "${context.session_id} is empty: this event has no such value"
        ]
    );
    let (_, notes) = render("$TOKEN", Syntax::Both, &[]);
    assert_eq!(notes, ["$TOKEN stays as it is: \"allowedEnvVars\" does not name TOKEN"]);
    let many: String = (0..100).map(|n| format!("${{env.V{n}}}")).collect();
    assert_eq!(render(&many, Syntax::Dotted, &[]).1.len(), 20);
}

#[test]
fn a_document_stays_a_document() {
    let input = json!({"text": "a\"b\n", "n": 3, "o": {"k": [1]}, "none": null});
    let mut renderer = Renderer::new(Values { tool_input: &input, ..Values::default() });
    let template = json!({"t": "<${tool_input.text}>", "n": "${tool_input.n}", "o": "${tool_input.o}",
        "gone": "${tool_input.gone}", "list": ["${tool_input.n}!", 1, null, true], "${tool_input.n}": "key"});
    let rendered = renderer.document(&template, Syntax::Dotted);
    let expected = json!({"t": "<a\"b\n>", "n": 3, "o": {"k": [1]}, "gone": null,
        "list": ["3!", 1, null, true], "${tool_input.n}": "key"});
    assert_eq!(rendered, expected);
    let texts = renderer.texts(&json!(["${tool_input.n}", "${tool_input.gone}", 7]), Syntax::Dotted);
    assert_eq!(texts, json!(["3", "", 7]));
    assert!(renderer.notes().iter().all(|note| note.level == Level::Warning));
}

#[test]
fn a_large_value_that_is_repeated_ends_at_the_bound() {
    let input = json!({"big": "x".repeat(1024 * 1024)});
    let mut renderer = Renderer::new(Values { tool_input: &input, ..Values::default() });
    let text = renderer.text(&"${tool_input.big}".repeat(1000), Syntax::Dotted);
    assert!(renderer.overflowed() && text.len() <= MAX_RENDERED, "{}", text.len());
}

const SYNTAXES: [Syntax; 5] =
    [Syntax::Dotted, Syntax::Shell, Syntax::Both, Syntax::Path, Syntax::DottedOrPath];

proptest! {
    #[test]
    fn pieces_put_together_are_the_template(template in r"([$]|[{}]|[.]|env|tool_input|context|[a-z0-9_é -]){0,40}") {
        for syntax in SYNTAXES {
            let whole: String = pieces(&template, syntax)
                .map(|piece| match piece { Piece::Text(text) | Piece::Placeholder(text, _) => text })
                .collect();
            prop_assert_eq!(&whole, &template);
        }
    }

    #[test]
    fn a_text_without_a_dollar_is_itself(template in "[^$]{0,60}") {
        for syntax in SYNTAXES {
            prop_assert_eq!(Renderer::new(Values::default()).text(&template, syntax), template.clone());
        }
    }

    #[test]
    fn a_value_is_put_in_as_it_is(value in any::<String>(), before in "[^$]{0,10}", after in "[^$]{0,10}") {
        let context: Map<String, Value> = [("v".to_owned(), Value::from(value.as_str()))].into_iter().collect();
        let mut renderer = Renderer::new(Values { context: &context, ..Values::default() });
        let text = renderer.text(&format!("{before}${{context.v}}{after}"), Syntax::Dotted);
        prop_assert_eq!(text, format!("{before}{value}{after}"));
    }

    #[test]
    fn a_variable_that_is_not_allowed_never_shows(template in r"([$]|[{}]|[.]|env|SECRET|[a-z ]){0,40}") {
        let variable = |_: &str| Some("leaked".to_owned());
        for syntax in SYNTAXES {
            let values = Values { variable: &variable, ..Values::default() };
            prop_assert!(!Renderer::new(values).text(&template, syntax).contains("leaked"));
        }
    }
}

/// A reader that looked ahead for every dollar would need minutes for this.
#[test]
fn a_megabyte_of_openings_is_read_in_one_pass() {
    let template = "${tool_input.".repeat(80_000) + &"$".repeat(200_000) + &"a".repeat(100_000);
    assert_eq!(Renderer::new(Values::default()).text(&template, Syntax::Dotted), template);
}
