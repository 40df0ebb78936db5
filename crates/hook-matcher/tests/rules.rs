//! Rules as data: what each holds for.

use std::path::Path;

use hook_core::{EventKind, Verdict};
use hook_matcher::{Rule, RuleInput};
use serde_json::{Value, json};

const PROJECT: &str = "/home/me/project";
const HOME: &str = "/home/me";

fn judge(rule: &str, tools: &[&str], input: &Value) -> Verdict {
    Rule::compile(rule).rule.judge(&RuleInput {
        event: &EventKind::PreToolUse,
        tools,
        input: Some(input),
        session: Some(Path::new(PROJECT)),
        project: Path::new(PROJECT),
        home: Some(Path::new(HOME)),
        source: Some(Path::new("/home/me/project/.settings")),
    })
}

#[track_caller]
fn on_bash(rule: &str, command: &str, expected: bool) {
    let verdict = judge(rule, &["Bash"], &json!({"command": command}));
    assert_eq!(verdict.holds, expected, "{command:?}: {}", verdict.why);
}

#[track_caller]
fn on_path(rule: &str, path: &str, expected: bool) {
    let verdict = judge(rule, &["Write"], &json!({"file_path": path}));
    assert_eq!(verdict.holds, expected, "{path:?}: {}", verdict.why);
}

#[test]
fn a_name_and_a_star_hold_for_the_command_wherever_it_stands() {
    for command in [
        "git",
        "git push",
        "git  push",
        "\tgit push",
        "FOO=1 BAR=2 git push",
        "'git' push",
        "g\"it\" push",
        "\\git push",
        "a && git push",
        "a || git push",
        "a; git push",
        "a | git push",
        "a |& git push",
        "a & git push",
        "a\ngit push",
        "! git push",
        "git push > log 2>&1",
        "> log git push",
        "git push # now",
        "git \\\n push",
        "gi\\\nt push",
        "(git push)",
        "( a; git push )",
        "if git push; then a; fi",
        "if a; then git push; fi",
        "while a; do git push; done",
        "[[ -f a ]] && git push",
        "a $(git push)",
        "a `git push`",
        "a \"$(git push)\"",
        "X=$(git push)",
        "X=`git push`",
        "xargs git push",
        "a | xargs git",
        "git push 'x",
    ] {
        on_bash("Bash(git *)", command, true);
    }
}

#[test]
fn a_name_and_a_star_do_not_hold_for_what_only_looks_like_it() {
    for command in [
        "gitx",
        "git-push",
        "GIT push",
        "/usr/bin/git push",
        "echo git push",
        "cat <<< git",
        "bash -c 'git push'",
        "eval git push",
        "coproc git push",
        "xargs -n1 git push",
        "timeout 5 git push",
        "time git push",
        "nice git push",
        "nohup git push",
        "command git push",
        "exec git push",
        "env git push",
        "sudo git push",
        "echo $(date)",
        "echo `date`",
        "echo $FOO",
        "cat $FOO",
        "echo 'x",
        "echo '$FOO'",
        "echo $HOME \"$HOME\" $HOME/x",
        "echo $((1+2))",
        "echo * ~",
        "# git push",
        "",
    ] {
        on_bash("Bash(git *)", command, false);
    }
}

#[test]
fn what_cannot_be_known_makes_every_rule_on_commands_hold() {
    for command in [
        "$TOOL git push",
        "echo \"$FOO\"",
        "echo ${FOO}",
        "echo ${HOME}",
        "FOO=$BAR cmd",
        "[ -n \"$FOO\" ]",
        "{ a; }",
        "for a in b c; do echo $a; done",
        "case a in b) c;; esac",
        "a() { b; }",
        "cat <<END\nx\nEND",
        "diff <(a) <(b)",
        "echo {a,b}",
        "a=(b c)",
        "echo $'x'",
        "echo \"x",
        "echo $(x",
        "echo `x",
        "a)",
        "$(which x) y",
        "HOME=git; $HOME push",
    ] {
        for rule in ["Bash(git *)", "Bash(git)", "Bash(git push *)", "Bash(rm*)"] {
            on_bash(rule, command, true);
        }
    }
}

#[test]
fn more_than_a_name_holds_for_arguments_that_are_not_known() {
    for rule in ["Bash(git push *)", "Bash(git push)", "Bash(git * main)", "Bash(npm run build)"] {
        for command in
            ["echo $(date)", "echo `date`", "echo $FOO", "echo $PWD", "echo $1", "echo $?", "npm test > $FOO"]
        {
            on_bash(rule, command, true);
        }
        for command in [
            "echo $HOME",
            "echo \"$HOME\"",
            "echo $HOME/x",
            "echo '$FOO'",
            "echo \\$FOO",
            "echo $((1+2))",
            "ls *",
            "ls ~",
        ] {
            on_bash(rule, command, false);
        }
    }
    // The arguments may come to nothing.
    on_bash("Bash(git)", "git $FOO", true);
    on_bash("Bash(git)", "git $(date)", true);
    on_bash("Bash(git)", "git push $FOO", false);
}

#[test]
fn patterns_say_how_much_of_the_command_they_mean() {
    for (rule, command, expected) in [
        ("Bash", "make all", true),
        ("Bash(*)", "make all", true),
        ("Bash()", "make all", true),
        ("Bash(:*)", "make all", true),
        ("", "make all", true),
        ("Bash(ls *)", "ls", true),
        ("Bash(ls *)", "ls -la", true),
        ("Bash(ls *)", "lsof", false),
        ("Bash(ls*)", "lsof", true),
        ("Bash(ls*)", "ls -la", true),
        ("Bash(git push:*)", "git push", true),
        ("Bash(git push:*)", "git push origin", true),
        ("Bash(git push:*)", "git pushx", false),
        ("Bash(git push:*)", "git pull", false),
        ("Bash(git push *)", "git  push   origin", true),
        ("Bash(git push)", "git push", true),
        ("Bash(git push)", "git push > log", true),
        ("Bash(git push)", "git push origin", false),
        ("Bash(npm run build)", "npm run build", true),
        ("Bash(git * main)", "git push origin main", true),
        ("Bash(git * main)", "git push main origin", false),
        ("Bash(* push)", "sudo git push", true),
        ("Bash(timeout *)", "timeout 5 git push", true),
        ("Bash(xargs *)", "xargs git push", true),
        ("Bash(xargs *)", "xargs -n1 git push", true),
        ("Bash(rm *)", "xargs $FOO", true),
        ("Bash(git push)", "xargs git push", true),
        ("Bash(git commit -m \"a b\")", "git commit -m \"a b\"", true),
        ("Bash(git commit -m \"a b\")", "git commit -m 'a b'", true),
        ("Bash(git commit -m \"*\")", "git commit -m \"a\nb\"", true),
        ("Bash(echo \\(x\\))", "echo '(x)'", true),
        ("Bash(echo (x))", "echo '(x)'", true),
        ("Bash(FOO=1 git *)", "FOO=1 git push", true),
        ("Bash(FOO=1 git *)", "FOO=2 git push", false),
        ("Bash(F*)", "FOO=2 git push", false),
        ("Bash(curl * | sh)", "curl x | sh", true),
        ("Bash(curl * | sh)", "curl x", false),
        ("Bash(echo * > *)", "echo a > b", true),
    ] {
        on_bash(rule, command, expected);
    }
}

#[test]
fn what_cannot_be_read_holds_for_nothing() {
    for rule in [
        "Bash(git",
        "X || Y",
        "Bash(git *) || Bash(make *)",
        "Bash, Edit",
        "*",
        "mcp__*",
        "Bash(a) b",
        "Bash(a))",
    ] {
        let compiled = Rule::compile(rule);
        assert!(compiled.rule.is_unreadable(), "{rule}");
        on_bash(rule, "git push", false);
    }
    on_bash("bash(git *)", "git push", false);
    assert!(!Rule::compile("bash(git *)").rule.is_unreadable());
}

#[test]
fn paths_follow_gitignore() {
    for (rule, path, expected) in [
        ("Write(*.ts)", "/home/me/project/a.ts", true),
        ("Write(*.ts)", "/home/me/project/src/deep/a.ts", true),
        ("Write(*.ts)", "/elsewhere/a.ts", true),
        ("Write(*.ts)", "/home/me/project/a.js", false),
        ("Write(*.ts)", "a.ts", true),
        ("Write", "/x", true),
        ("Write(*)", "/x", true),
        ("Write(**)", "/x", true),
        ("Write(src/**)", "/home/me/project/src/a.ts", true),
        ("Write(src/**)", "/home/me/project/src/deep/a.ts", true),
        ("Write(src/**)", "/home/me/project/src", true),
        ("Write(src/**)", "/home/me/project/lib/src/a.ts", false),
        ("Write(src/**)", "/elsewhere/src/a.ts", false),
        ("Write(/src/**)", "/home/me/project/src/a.ts", true),
        ("Write(/src/**)", "/home/me/project/src", true),
        ("Write(/src/**)", "/home/me/project/lib/src/a.ts", false),
        ("Write(./src/**)", "/home/me/project/src/a.ts", true),
        ("Write(./src/**)", "/home/me/project/lib/src/a.ts", false),
        ("Write(src/*)", "/home/me/project/src/a.ts", true),
        ("Write(src/*)", "/home/me/project/src/deep/a.ts", true),
        ("Write(src/*)", "/home/me/project/src", false),
        ("Write(src)", "/home/me/project/lib/src/deep/a.ts", true),
        ("Write(src)", "/home/me/project/src", true),
        ("Write(src/)", "/home/me/project/lib/src/deep/a.ts", true),
        ("Write(src)", "/home/me/project/srcs/a.ts", false),
        ("Write(project)", "/home/me/project/a.ts", false),
        ("Write(**/src/**)", "/home/me/project/lib/src/a.ts", true),
        ("Write(**/src/**)", "/home/me/project/src/a.ts", true),
        ("Write(**/src/**)", "/home/me/project/lib/a.ts", false),
        ("Write(src/**/test/*.ts)", "/home/me/project/src/a/b/test/x.ts", true),
        ("Write(src/**/test/*.ts)", "/home/me/project/src/test/x.ts", true),
        ("Write(src/**/test/*.ts)", "/home/me/project/src/test/x.js", false),
        ("Write(~/x/**)", "/home/me/x/a", true),
        ("Write(~/x/**)", "~/x/a", true),
        ("Write(~/x/**)", "/home/me/project/x/a", false),
        ("Write(//abs/**)", "/abs/a", true),
        ("Write(//abs/**)", "/home/me/project/abs/a", false),
        ("Write(src/{a,b}/**)", "/home/me/project/src/a/x", false),
        ("Write(a/a/b)", "/home/me/project/a/a/b", true),
        ("Write(a/a/b)", "/home/me/project/a/b", false),
        ("Write(../**)", "/home/me/x", false),
        ("Write(../**)", "/home/me/project/x", false),
        ("Write(.env)", "/home/me/project/src/../.env", true),
        ("Write(.env)", "/home/me/project/.ENV", true),
        ("Write(.env)", "/home/me/project/x.env", false),
        ("Write(src/**)", "src/../lib/a", false),
        ("Write(a?[b-d][!x]*)", "/home/me/project/azc1", true),
        ("Write(a?[b-d][!x]*)", "/home/me/project/azex", false),
        ("Write(a[)", "/home/me/project/a[", true),
        ("Write(//c/x/**)", "C:\\X\\a.ts", true),
        ("Write(C:\\x\\**)", "C:\\X\\a.ts", true),
        ("Edit(*.ts)", "/home/me/project/a.ts", false),
    ] {
        on_path(rule, path, expected);
    }
    for tool in ["Write", "NotebookEdit"] {
        let input = json!({"file_path": "/home/me/project/a.ts", "notebook_path": "/home/me/project/a.ts"});
        assert!(!judge("Edit(*.ts)", &[tool], &input).holds, "Edit does not cover {tool}");
    }
    let notebook = json!({"notebook_path": "/home/me/project/a.ipynb"});
    assert!(judge("NotebookEdit(*.ipynb)", &["NotebookEdit"], &notebook).holds);
    assert!(
        judge("Edit(*.ts)", &["MultiEdit", "Edit"], &json!({"file_path": "a.ts"})).holds,
        "an alias counts"
    );
}

#[test]
fn a_slash_means_the_directory_of_the_settings() {
    let input = json!({"file_path": "/home/me/.settings/x/a"});
    let judged = |source: Option<&str>, path: &Value| {
        Rule::compile("Write(/x/**)").rule.judge(&RuleInput {
            event: &EventKind::PreToolUse,
            tools: &["Write"],
            input: Some(path),
            session: Some(Path::new("/home/me/project/sub")),
            project: Path::new(PROJECT),
            home: None,
            source: source.map(Path::new),
        })
    };
    let in_project = json!({"file_path": "/home/me/project/x/a"});
    assert!(judged(Some("/home/me/.settings"), &input).holds);
    assert!(!judged(Some("/home/me/.settings"), &in_project).holds);
    assert!(judged(Some("/home/me/project/.settings"), &in_project).holds);
    assert!(judged(None, &in_project).holds);
    assert!(!judged(None, &input).holds);
}

#[test]
fn other_tools_have_rules_of_their_own() {
    let rows = [
        ("WebFetch(domain:example.com)", "WebFetch", json!({"url": "https://example.com/a"}), true),
        ("WebFetch(domain:example.com)", "WebFetch", json!({"url": "https://www.example.com/a"}), false),
        ("WebFetch(domain:*.example.com)", "WebFetch", json!({"url": "https://www.example.com/a"}), true),
        ("WebFetch(domain:*.example.com)", "WebFetch", json!({"url": "https://badexample.com/a"}), false),
        ("WebFetch(domain:example.com)", "WebFetch", json!({"url": "https://example.com@evil.org"}), false),
        ("WebFetch(domain:example.com)", "WebFetch", json!({"url": "https://ex%61mple.com"}), true),
        ("WebFetch(domain:*)", "WebFetch", json!({"url": "https://x"}), true),
        ("mcp__notes", "mcp__notes__add", json!({}), true),
        ("mcp__notes__*", "mcp__notes__add", json!({}), true),
        ("mcp__notes__add", "mcp__notes__add", json!({}), true),
        ("mcp__notes__a*", "mcp__notes__add", json!({}), true),
        ("mcp__notes__get", "mcp__notes__add", json!({}), false),
        ("mcp__notes", "mcp__notes2__add", json!({}), false),
        ("mcp__plugin_a_b__add", "mcp__plugin_a_b__add", json!({}), true),
        ("Agent(Explore)", "Agent", json!({"subagent_type": "Explore"}), true),
        ("Agent(Explore)", "Agent", json!({"subagent_type": "Plan"}), false),
        ("Task", "Agent", json!({}), true),
        ("Agent", "Task", json!({}), true),
        ("Task(Explore)", "Agent", json!({"subagent_type": "Explore"}), true),
        ("Skill(deploy)", "Skill", json!({"skill": "deploy"}), true),
        ("Skill(deploy)", "Skill", json!({"skill": "/deploy", "args": "now"}), true),
        ("Skill(deploy)", "Skill", json!({"skill": "review"}), false),
        ("Skill(deploy *)", "Skill", json!({"skill": "deploy", "args": "now"}), true),
        ("Skill(*)", "Skill", json!({"skill": "review"}), true),
        ("Glob(**/*.rs)", "Glob", json!({"pattern": "**/*.rs"}), true),
        ("Glob(src/**)", "Glob", json!({"pattern": "*.rs", "path": "/home/me/project/src/x"}), true),
        ("Glob(*.md)", "Glob", json!({"pattern": "**/*.rs"}), false),
        ("Grep(TODO*)", "Grep", json!({"pattern": "TODO: x"}), true),
        ("Grep(TODO*)", "Grep", json!({"pattern": "FIXME"}), false),
        ("PowerShell(git *)", "PowerShell", json!({"command": "GIT push"}), true),
        ("PowerShell(Remove-Item *)", "PowerShell", json!({"command": "rm -Recurse x"}), true),
        ("PowerShell(rm *)", "PowerShell", json!({"command": "a; Remove-Item x"}), true),
        ("PowerShell(git push *)", "PowerShell", json!({"command": "a | git.exe push x"}), true),
        ("PowerShell(git push *)", "PowerShell", json!({"command": "echo $x"}), true),
        ("PowerShell(git *)", "PowerShell", json!({"command": "echo $x"}), false),
        ("PowerShell(git *)", "PowerShell", json!({"command": "& $x push"}), true),
        ("PowerShell(git *)", "PowerShell", json!({"command": "& git push"}), true),
        ("PowerShell(git *)", "PowerShell", json!({"command": "$y = git push"}), true),
        ("PowerShell(git *)", "PowerShell", json!({"command": "echo 'git push'; if (1) { ls }"}), false),
        ("PowerShell(git *)", "PowerShell", json!({"command": "echo \"open"}), true),
        ("PowerShell(git *)", "PowerShell", json!({"command": "g`it push"}), true),
        ("Bash(rm *)", "PowerShell", json!({"command": "rm x"}), false),
        ("WebSearch", "WebSearch", json!({}), true),
        ("WebSearch(x)", "WebSearch", json!({"query": "y"}), true),
    ];
    for (rule, tool, input, expected) in rows {
        let verdict = judge(rule, &[tool], &input);
        assert_eq!(verdict.holds, expected, "{input}: {}", verdict.why);
    }
}

#[test]
fn a_call_without_what_the_rule_is_about_is_in_doubt() {
    for (rule, tool) in [
        ("Bash(git *)", "Bash"),
        ("PowerShell(git *)", "PowerShell"),
        ("Write(*.ts)", "Write"),
        ("Grep(x)", "Grep"),
        ("WebFetch(domain:x)", "WebFetch"),
        ("Agent(x)", "Agent"),
        ("Skill(x)", "Skill"),
    ] {
        for input in [json!({}), json!({"command": 1, "file_path": null, "url": []}), Value::Null] {
            assert!(judge(rule, &[tool], &input).holds, "{rule} on {input}");
        }
    }
    let unknown_home = Rule::compile("Write(~/x)").rule.judge(&RuleInput {
        event: &EventKind::PreToolUse,
        tools: &["Write"],
        input: Some(&json!({"file_path": "/y"})),
        session: None,
        project: Path::new(PROJECT),
        home: None,
        source: None,
    });
    assert!(unknown_home.holds, "{}", unknown_home.why);
}

#[test]
fn rules_hold_on_tool_events_only() {
    let command = json!({"command": "git push"});
    for event in EventKind::ALL {
        let verdict = Rule::compile("Bash(git *)").rule.judge(&RuleInput {
            event,
            tools: &["Bash"],
            input: Some(&command),
            session: None,
            project: Path::new(PROJECT),
            home: None,
            source: None,
        });
        let expected = matches!(
            event,
            EventKind::PreToolUse
                | EventKind::PostToolUse
                | EventKind::PostToolUseFailure
                | EventKind::PermissionRequest
                | EventKind::PermissionDenied
        );
        assert_eq!(verdict.holds, expected, "{event}: {}", verdict.why);
    }
}

#[test]
fn the_reason_shows_the_value() {
    for (rule, tool, input, expected) in [
        ("Bash(git push *)", "Bash", json!({"command": "npm test"}), "no sub-command of \"npm test\" fits"),
        ("Bash(git *)", "Bash", json!({"command": "a && git push"}), "the sub-command \"git push\" fits"),
        (
            "Bash(git push *)",
            "Bash",
            json!({"command": "echo $(date)"}),
            "the line holds \"$(date)\", so its arguments are not known",
        ),
        (
            "Bash(git *)",
            "Bash",
            json!({"command": "$X y"}),
            "the line holds a command whose name only the shell knows (\"$X\"), so what it runs is not known",
        ),
        ("Bash(rm *)", "PowerShell", json!({}), "the tool is \"PowerShell\""),
        ("Write(*.ts)", "Write", json!({"file_path": "/a.js"}), "the file is \"/a.js\""),
        ("WebFetch(domain:a)", "WebFetch", json!({"url": "http://B/"}), "the host is \"b\""),
        ("Bash(git", "Bash", json!({}), "the rule cannot be read: the parenthesis is never closed"),
    ] {
        assert_eq!(judge(rule, &[tool], &input).why, format!("{rule}: {expected}"));
    }
    let long = judge("Bash(git *)", &["Bash"], &json!({"command": "é".repeat(100_000)}));
    assert!(long.why.len() < 300, "{}", long.why.len());
}
