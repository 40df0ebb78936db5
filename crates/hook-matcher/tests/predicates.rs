//! Predicates as data: what they say of a call, in both flavours that have them, and what their author is told.

use hook_core::Flavour::{self, Aimon, AimonStrict, Native};
use hook_matcher::{Matcher, ProblemKind};
use serde_json::{Value, json};

/// Calls of `Bash` by their command.
#[track_caller]
fn commands(flavours: &[Flavour], matcher: &str, rows: &[(&str, bool)]) {
    let calls: Vec<(&str, Value, bool)> =
        rows.iter().map(|(command, fits)| ("Bash", json!({"command": command}), *fits)).collect();
    calls_of(flavours, matcher, &calls);
}

#[track_caller]
fn calls_of(flavours: &[Flavour], matcher: &str, rows: &[(&str, Value, bool)]) {
    for flavour in flavours {
        let compiled = Matcher::compile(Some(matcher), *flavour);
        for (tool, input, expected) in rows {
            let verdict = compiled.matcher.judge(&[tool], input);
            let problems = &compiled.problems;
            assert_eq!(
                verdict.holds, *expected,
                "{flavour:?} {matcher:?} on {tool} {input}: {verdict:?} {problems:?}"
            );
            // The index drops a hook by its names alone, so they must never be narrower than the predicate.
            assert!(!expected || compiled.matcher.matches([*tool]), "{flavour:?} {matcher:?}: names");
            if let Some(names) = compiled.matcher.exact_names() {
                assert!(!expected || names.iter().any(|name| name == tool), "{flavour:?} {matcher:?}: index");
            }
        }
    }
}

#[track_caller]
fn tools(flavours: &[Flavour], matcher: &str, fitting: &[&str], others: &[&str]) {
    let fitting = fitting.iter().map(|tool| (*tool, json!({}), true));
    let others = others.iter().map(|tool| (*tool, json!({}), false));
    calls_of(flavours, matcher, &fitting.chain(others).collect::<Vec<_>>());
}

const BOTH: &[Flavour] = &[Native, Aimon];
const ALL: &[Flavour] = &[Native, Aimon, AimonStrict];

#[test]
fn names_alone() {
    for everything in ["", "*", "   ", " * "] {
        tools(&[Aimon, AimonStrict], everything, &["Bash", "anything-at-all"], &[]);
    }
    tools(ALL, "Bash", &["Bash"], &["bash", "BashOutput", "Read"]);
    tools(ALL, "Read|Write|Edit", &["Read", "Write", "Edit"], &["Grep"]);
    tools(&[Native, Aimon], "  Read  |  Edit  ", &["Read", "Edit"], &["Write"]);
    tools(ALL, "*Tool", &["Tool", "BashTool"], &["Bash", "Toolish"]);
    tools(ALL, "Read*", &["Read", "ReadTool", "Readme"], &["Bash", "XRead"]);
    tools(ALL, "*Tool*", &["Tool", "ToolX", "XYZToolABC"], &["Bash"]);
    tools(ALL, "R*d*Tool", &["ReadTool", "RedTool", "RxxxdyyyTool"], &["ReadTools", "ReaTool", "XReadTool"]);
    tools(ALL, "Tool.X*", &["Tool.X", "Tool.Xyz"], &["ToolAX"]);
    tools(ALL, "mcp__*", &["mcp__github__create_issue"], &["Bash"]);
    tools(ALL, "mcp__.*", &["mcp__github__create_issue"], &["Bash"]);
    tools(
        &[Aimon, AimonStrict],
        "deriver.memory.search",
        &["deriver.memory.search"],
        &["deriver-memory.search"],
    );
    tools(&[Aimon], "mcp__.*", &["mcp__"], &["xmcp__a"]);
    tools(&[Aimon], "Rea?", &["Re", "Rea"], &["Read"]);
    tools(&[Aimon], "mcp__(fs|git)__.*", &["mcp__fs__read", "mcp__git__log"], &["mcp__web__get"]);
    tools(&[Aimon], "^Edit$|[Bb]ash", &["Edit", "bash", "Bash"], &["MultiEdit", "bashed"]);
    tools(&[Aimon, AimonStrict], "Read | mcp__*", &["Read", "mcp__a__b"], &["Edit"]);
    tools(BOTH, "mcp__* & *delete*", &["mcp__db__delete_row"], &["mcp__db__get_row", "delete"]);
}

#[test]
fn globs_cover_a_sub_command_whole() {
    commands(
        ALL,
        "Bash(git *)",
        &[
            ("git status", true),
            ("git push --force", true),
            ("ls", false),
            ("npm install", false),
            ("git status && rm -rf /tmp", true),
            ("rm -rf /tmp && git status", true),
            ("echo hi; git status; echo bye", true),
            ("ls\ngit status", true),
            ("echo $(git status)", true),
            ("echo \"branch: $(git rev-parse HEAD)\"", true),
            ("echo `git status`", true),
            ("bash -c \"git push\"", true),
            ("bash -c \"echo hi && git push\"", true),
            ("echo $(echo $(git status))", true),
            ("", false),
            ("  ", false),
        ],
    );
    commands(
        ALL,
        "Bash(npm install)",
        &[("npm install", true), ("npm install lodash", false), (" npm install ", true)],
    );
    commands(ALL, "Bash(rm *)", &[("git status || rm -rf /tmp", true), ("echo 'rm -rf /'", false)]);
    commands(ALL, "Bash(grep *)", &[("cat file | grep foo", true)]);
    commands(ALL, "Bash(*git push*)", &[("echo \"git push", true), ("sudo git push", true)]);
    commands(ALL, "Bash(*--force*)", &[("git push --force", true), ("git push", false)]);
    commands(ALL, "Bash(git *|grep *)", &[("git log | grep fix", false), ("git *|grep *", false)]);
    commands(ALL, "Bash(git push)", &[("git push origin main", false)]);
    commands(
        ALL,
        "Bash(rm -rf /*)",
        &[
            ("rm -rf /", true),
            ("cd /tmp && rm -rf /var", true),
            ("rm -rf build", false),
            ("sudo rm -rf /", false),
        ],
    );
    commands(ALL, "Bash(git:*)", &[("git push", false), ("git:x", true)]);
    commands(ALL, "Bash(npm run deploy:*)", &[("npm run deploy:prod", true)]);
    commands(ALL, "Bash(FOO=1 make*)", &[("FOO=1 make all", true), ("make all", false)]);
    commands(ALL, "Bash (git *)", &[("git status", true)]);
    commands(BOTH, "Bash([ -f *)", &[("[ -f x ]", true), ("ls", false)]);
    commands(BOTH, "Bash(a & b)", &[("a & b", true), ("a", false)]);
    calls_of(
        ALL,
        "Bash(git *)",
        &[
            ("Read", json!({"command": "git status"}), false),
            ("Bash", json!({}), false),
            ("Bash", json!({"other": "git status"}), false),
            ("Bash", json!({"command": 42}), false),
            ("Bash", json!({"command": ["git status"]}), false),
            ("Bash", json!(null), false),
        ],
    );
}

#[test]
fn thorough_flavours_know_words_and_open_quotes() {
    for (matcher, command) in [
        ("Bash(git push*)", "git  push"),
        ("Bash(rm *)", "FOO=1 rm x"),
        ("Bash(rm *)", "'rm' -rf x"),
        ("Bash(rm *)", "ls # it's\nrm -rf x"),
        ("Bash(rm *)", "ls; rm -rf x \"open"),
        ("Bash(rm *)", "if true; then rm x; fi"),
        ("Bash(rm *)", "sleep 1 & rm x"),
        ("Bash(rm *)", "(rm x)"),
    ] {
        commands(&[Native, AimonStrict], matcher, &[(command, true)]);
        commands(&[Aimon], matcher, &[(command, false)]);
    }
}

#[test]
fn globs_cover_a_path_whole() {
    let file = |path: &str| json!({"file_path": path});
    calls_of(
        ALL,
        "Edit(*.ts)",
        &[
            ("Edit", file("src/foo.ts"), true),
            ("Edit", file("foo.tsx"), false),
            ("Read", file("x.ts"), false),
            ("Edit", file(""), false),
            ("Edit", json!({"file_path": 42}), false),
            ("Edit", json!({"other": "x.ts"}), false),
        ],
    );
    calls_of(
        ALL,
        "Write(.env)",
        &[
            ("Write", file(".env"), true),
            ("Write", file("config/.env"), false),
            ("Write", file(".env.local"), false),
        ],
    );
    calls_of(
        ALL,
        "Read(secrets.*)",
        &[("Read", file("secrets.json"), true), ("Read", file("secretsXjson"), false)],
    );
    calls_of(ALL, "Read(/etc/*)", &[("Read", file("/etc/ssh/sshd_config"), true)]);
    calls_of(ALL, "Read(/tmp/report (1)/*)", &[("Read", file("/tmp/report (1)/a"), true)]);
    calls_of(
        ALL,
        "Edit(**/*.java)",
        &[("Edit", file("src/Main.java"), true), ("Edit", file("Main.java"), false)],
    );
    calls_of(
        ALL,
        "Glob(*.ts)",
        &[
            ("Glob", json!({"pattern": "src/*.ts"}), true),
            ("Glob", json!({"pattern": "*.js", "path": "x.ts"}), true),
        ],
    );
    calls_of(
        ALL,
        "Grep(*.java)",
        &[("Grep", json!({"path": "Main.java"}), true), ("Grep", json!({"path": "a.kt"}), false)],
    );
    calls_of(
        ALL,
        "LS(/etc/*)",
        &[("LS", json!({"path": "/etc/passwd"}), true), ("LS", json!({"path": "/var"}), false)],
    );
    calls_of(ALL, "NotebookEdit(*.ipynb)", &[("NotebookEdit", json!({"notebook_path": "demo.ipynb"}), true)]);
    calls_of(ALL, "MultiEdit(*.txt)", &[("MultiEdit", file("a.txt"), true)]);
    let matcher = "Bash(git *)|Edit(*.ts)|Write(*.ts)";
    calls_of(
        ALL,
        matcher,
        &[("Write", file("a.ts"), true), ("Edit", file("a.ts"), true), ("Read", file("a.ts"), false)],
    );
    calls_of(ALL, "Read|Bash(git *)", &[("Read", json!({}), true), ("Edit", json!({}), false)]);
}

#[test]
fn expressions_are_searched_in_a_field() {
    commands(
        ALL,
        r"Bash(command=^git\s+push)",
        &[
            ("git push origin main", true),
            ("git  push", true),
            ("git status", false),
            ("sudo git push", false),
        ],
    );
    commands(ALL, r"Bash(command=^rm\s+-rf\s+/)", &[("rm -rf /var/lib", true), ("sudo rm -rf /", false)]);
    commands(
        ALL,
        r"Bash(command=^git\s+push.*--force)",
        &[("git push origin main --force", true), ("git push origin main", false)],
    );
    commands(
        ALL,
        r"Bash(command=^kubectl\s+apply.*-prod)",
        &[("kubectl apply -f app.yaml -n shop-prod", true), ("kubectl apply -n shop-dev", false)],
    );
    commands(ALL, r"Bash(command=\bforce\b)", &[("git push --force", true), ("enforce", false)]);
    commands(&[Aimon, AimonStrict], r"Bash(command=\bforce\b)", &[("forceé", true)]);
    commands(
        &[Aimon, AimonStrict],
        "Bash(command=(?i)^KILL\\b)",
        &[("kill 1", true), ("\u{212a}ill 1", false)],
    );
    commands(ALL, r"Bash(command=(a|b)\(x\))", &[("b(x)", true), ("c(x)", false)]);
    commands(ALL, "Bash(command=[)|&]$)", &[("x)", true), ("x|", true), ("x", false)]);
    commands(ALL, "Bash( command = ^git )", &[("git", true)]);
    commands(BOTH, "Bash & input.command~^npm", &[("npm install", true), ("pnpm install", false)]);
    commands(BOTH, "input.command ~ ^npm", &[("npm install", true), ("pnpm", false)]);
    commands(BOTH, "input.command~^(npm|yarn)", &[("yarn add", true), ("pnpm", false)]);
    commands(BOTH, "input.command~a&&b", &[("a&&b", true), ("a b", false)]);
    calls_of(BOTH, "Bash & input.command~^npm", &[("Read", json!({"command": "npm i"}), false)]);
    calls_of(
        BOTH,
        "WebFetch(url=^http:) | mcp__*__write & input.options.force~true | Task & input.tags~^x$",
        &[
            ("WebFetch", json!({"url": "http://a"}), true),
            ("WebFetch", json!({"url": "https://a"}), false),
            ("mcp__db__write", json!({"options": {"force": true}}), true),
            ("mcp__db__write", json!({"options": {"force": false}}), false),
            ("mcp__db__write", json!({"options": [{"force": true}]}), false),
            ("mcp__db__write", json!({"options": null}), false),
            ("Task", json!({"tags": ["a", "x"]}), true),
            ("Task", json!({"tags": [["x"], {"x": "x"}]}), false),
            ("Task", json!({"tags": {"x": "x"}}), false),
        ],
    );
    calls_of(
        BOTH,
        "Read(limit=^1\\d\\d$)",
        &[("Read", json!({"limit": 100}), true), ("Read", json!({"limit": 1000}), false)],
    );
    calls_of(BOTH, "Read & input.limit~null", &[("Read", json!({"limit": null}), false)]);
}

#[test]
fn a_tool_of_several_names_fits_by_any_of_them() {
    let matcher = Matcher::compile(Some("Edit & MultiEdit & input.file_path~x"), Native).matcher;
    assert!(matcher.matches(["multi_edit", "MultiEdit", "Edit"]));
    assert!(matcher.judge(&["MultiEdit", "Edit"], &json!({"file_path": "x"})).holds);
    assert!(!matcher.judge(&["Edit"], &json!({"file_path": "x"})).holds);
}

#[test]
fn native_names_keep_their_meaning_within_predicates() {
    let file = |path: &str| json!({"file_path": path});
    calls_of(
        &[Native],
        "Edit, Write & input.file_path~\\.env$",
        &[
            ("Edit", file(".env"), true),
            ("Write", file(".env"), true),
            ("Read", file(".env"), false),
            ("Edit", file("a"), false),
        ],
    );
    calls_of(
        &[Native],
        "dit$ & input.file_path~x",
        &[("MultiEdit", file("x"), true), ("Write", file("x"), false)],
    );
    calls_of(
        &[Native],
        "input.file_path~(?P<n>\\p{Lu})",
        &[("Read", file("aÄ"), true), ("Read", file("aä"), false)],
    );
    // Expressions on names that look a little like something else.
    for (text, name, fits) in [
        ("Notebook(Edit|Read)", "NotebookRead", true),
        ("(Bash|Edit)", "BashOutput", true),
        ("a&b", "xa&by", true),
        ("mcp__(fs|git)__.*", "mcp__git__log", true),
        ("(?i)bash", "BASH", true),
        ("Mc(?:Edit)", "McEdit", true),
    ] {
        let compiled = Matcher::compile(Some(text), Native);
        assert!(compiled.matcher.predicate().is_none(), "{text}");
        assert_eq!(compiled.matcher.matches([name]), fits, "{text}: {:?}", compiled.problems);
    }
}

#[test]
fn what_cannot_be_read_is_the_name_of_a_tool_or_unreadable() {
    for (text, under) in [
        ("Bash(git *", "(git *"),
        ("Bash)git *", ")"),
        ("Bash()", "Bash()"),
        ("Edit(   )", "Edit(   )"),
        ("Read||Edit", "|"),
        ("|Read", "|"),
        ("Read|", "|"),
        ("Bash & ", " "),
        ("(git *)", "(git *)"),
        ("Bash(git *) trailing", "Bash(git *) trailing"),
        ("HttpFetch(https://*)", "https://*"),
        ("Custom(foo)", "foo"),
        ("mcp__github__create_issue(*)", "*"),
        ("Bash(command=^rm[)", "["),
        ("Bash & input.command~*", "*"),
        ("Bash(command=\\p{L})", "\\p{L}"),
        ("[a-", "[a-"),
    ] {
        let compiled = Matcher::compile(Some(text), Aimon);
        assert!(compiled.matcher.is_fallback() && !compiled.matcher.is_unreadable(), "{text}");
        let [problem] = compiled.problems.as_slice() else { panic!("{text}: {:?}", compiled.problems) };
        assert_eq!(problem.kind, ProblemKind::NameFallback, "{text}");
        assert_eq!(&text[problem.span.start..problem.span.end], under, "{text}: {problem:?}");
        for tool in ["Bash", "Read", "Edit", "HttpFetch"] {
            let input = json!({"command": "git status", "file_path": "x"});
            assert!(!compiled.matcher.judge(&[tool], &input).holds, "{text} on {tool}");
        }
        let strict = Matcher::compile(Some(text), AimonStrict);
        assert!(strict.matcher.is_unreadable() && !strict.matcher.is_fallback(), "{text}");
    }
    let fallback = Matcher::compile(Some("Bash()|*"), Aimon).matcher;
    assert!(fallback.matches(["Bash()|x"]), "with a star it is a glob");
    for text in ["^Edit$", "[Bb]ash", "Rea?", "Bash Edit", "Bash, Edit", "tool=Bash", "Read|^Edit$"] {
        assert!(Matcher::compile(Some(text), AimonStrict).matcher.is_unreadable(), "{text}");
        assert!(!Matcher::compile(Some(text), Aimon).matcher.is_fallback(), "{text}");
    }
}

#[test]
fn native_predicates_that_cannot_be_read_are_unreadable() {
    for (text, under) in [
        ("Bash(git *", "(git *"),
        ("Bash(git *) trailing", "Bash(git *) trailing"),
        ("Bash()", "Bash()"),
        ("Bash(rm *)||Edit", "|"),
        ("HttpFetch(https://*)", "https://*"),
        ("Bash(command=^rm[)", "^rm["),
        ("Bash & input.command~*", "*"),
        ("Bash & ", " "),
    ] {
        let compiled = Matcher::compile(Some(text), Native);
        assert!(compiled.matcher.is_unreadable(), "{text}: {}", compiled.matcher.describe());
        let [problem] = compiled.problems.as_slice() else { panic!("{text}: {:?}", compiled.problems) };
        assert_eq!(
            (problem.kind, &text[problem.span.start..problem.span.end]),
            (ProblemKind::Unreadable, under),
            "{text}"
        );
        assert!(!problem.message.ends_with('.'));
    }
}

#[test]
fn what_may_be_misread_is_a_trap() {
    for (flavours, text, under) in [
        (BOTH, "Edit|Write & input.file_path~x", "Edit|Write"),
        (BOTH, "input.command~^npm|^yarn", "^yarn"),
        (&[Aimon][..], "Bash && Edit", "Bash && Edit"),
        (&[Aimon][..], "Bash, Edit", "Bash, Edit"),
        (&[Aimon][..], "Bash Edit", "Bash Edit"),
    ] {
        for flavour in flavours {
            let problems = Matcher::compile(Some(text), *flavour).problems;
            let [problem] = problems.as_slice() else { panic!("{flavour:?} {text}: {problems:?}") };
            let found = (problem.kind, &text[problem.span.start..problem.span.end]);
            assert_eq!(found, (ProblemKind::DialectTrap, under), "{flavour:?} {text}");
        }
    }
    for text in
        ["Bash & input.command~^npm", "Bash(command=^x|y)", "Write & input.a~x | Edit", "Read|Bash(git *)"]
    {
        for flavour in BOTH {
            let problems = Matcher::compile(Some(text), *flavour).problems;
            assert!(problems.is_empty(), "{flavour:?} {text}: {problems:?}");
        }
    }
}

#[test]
fn verdicts_and_parts_show_what_was_seen() {
    let matcher = Matcher::compile(Some("Read | Bash(git *) & input.command~push | Edit"), Native).matcher;
    let predicate = matcher.predicate().expect("it looks at the input");
    let input = json!({"command": "git pull"});
    assert_eq!(
        predicate.judge(&["Bash"], &[&input]).why,
        "Read: the tool is Bash; input.command~push: command is \"git pull\"; Edit: the tool is Bash"
    );
    assert_eq!(
        predicate.parts(&["Bash"], &[&input]),
        [
            "  Read: false, the tool is Bash",
            "| Bash(git *): true, a sub-command is \"git pull\"",
            "& input.command~push: false, command is \"git pull\"",
            "| Edit: false, the tool is Bash",
        ]
    );
    assert_eq!(
        predicate.parts(&["Read"], &[&input])[..2],
        ["  Read: true, the tool is Read", "| Bash(git *): not asked"]
    );
    assert_eq!(matcher.describe(), "one of Read, Bash, Edit, as far as the input fits");
}

#[test]
fn the_native_input_is_asked_where_the_neutral_one_lacks_the_field() {
    let matcher = Matcher::compile(Some("Bash & input.cmd~x"), Native).matcher;
    let predicate = matcher.predicate().expect("it looks at the input");
    let (neutral, native) = (json!({"command": "x"}), json!({"cmd": "x"}));
    assert!(predicate.judge(&["Bash"], &[&neutral, &native]).holds);
    assert!(!predicate.judge(&["Bash"], &[&neutral]).holds);
}

/// Limits make a predicate hold, and it says so; nothing is let through because it was too long to be looked at.
#[test]
fn what_goes_beyond_a_limit_holds_and_is_reported() {
    let nested = format!("{}ls{}", "echo $(".repeat(65), ")".repeat(65));
    let wide = format!("{}{}{}", "echo $(".repeat(60), "x y;".repeat(15_000), ")".repeat(60));
    let long = "a".repeat(1 << 20);
    let words = "echo \"a b\" && ".repeat(80_000);
    for (matcher, command) in [
        ("Bash(rm *)", nested.as_str()),
        ("Bash(*q*q*)", wide.as_str()),
        ("Bash(rm *)", long.as_str()),
        ("Bash(rm *)", words.as_str()),
        ("Bash(command=(?=b)(a|b)*\\1c)", long.as_str()),
        ("Bash(command=^(a|aa)+\\1?$(?!x)b)", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"),
        ("Bash(command=x{1000}y{1000})", &long[..200_000]),
    ] {
        for flavour in ALL {
            let compiled = Matcher::compile(Some(matcher), *flavour);
            let verdict = compiled.matcher.judge(&["Bash"], &json!({"command": command}));
            assert!(
                verdict.holds && verdict.unsure.is_some(),
                "{flavour:?} {matcher}: {verdict:?} {:?}",
                compiled.problems
            );
        }
    }
    // What a linear engine takes is answered, however it is written.
    for (matcher, command) in [
        ("Bash(command=(a+)+$)", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"),
        ("Bash(command=(a+)+$)", &(long + "!")[1..]),
    ] {
        for flavour in ALL {
            let verdict = Matcher::compile(Some(matcher), *flavour)
                .matcher
                .judge(&["Bash"], &json!({"command": command}));
            assert_eq!((verdict.holds, verdict.unsure), (false, None), "{flavour:?} {matcher}");
        }
    }
}

#[test]
fn long_and_deep_matchers_are_not_read() {
    let deep = format!("Bash(command={}a{})", "(".repeat(64), ")".repeat(64));
    let long = format!("Bash(command={})", "a".repeat(4096));
    for text in [deep, long, "[".repeat(4000) + "(x)", "Bash(".repeat(800), "[(\\".repeat(1300)] {
        for flavour in [Native, AimonStrict] {
            assert!(
                Matcher::compile(Some(&text), flavour).matcher.is_unreadable(),
                "{flavour:?} {}",
                &text[..20]
            );
        }
        assert!(Matcher::compile(Some(&text), Aimon).matcher.is_fallback());
    }
}
