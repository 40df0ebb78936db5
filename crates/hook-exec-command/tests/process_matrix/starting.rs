//! What a process gets: its arguments, environment, directory, group, descriptors.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;

use hook_core::{CommandHandler, FailureKind, Handler, HttpHandler, Shell};

use crate::bench::{Bench, exec, line, write};

/// Names that a careless runner hands to a shell, splits, expands or takes for an option.
const ODD_NAMES: &[&str] = &[
    "a b",
    " lead and trail ",
    "~",
    "~root",
    "$(touch pwned)",
    "`touch pwned`",
    "${HOME}",
    "$PATH",
    "it's",
    "\"quoted\"",
    "-n",
    "a\\b",
    "é ü 漢",
    "new\nline",
    "; touch pwned",
    "a&&b|c",
    "*",
    "!{a,b}[x]",
    "#",
    "%s",
];

#[test]
fn the_environment_is_exactly_the_calls() {
    let bench = Bench::new();
    let wanted = vec![
        (OsString::from("A"), OsString::from("two\nlines = \"x\" $HOME")),
        ("EMPTY".into(), "".into()),
        ("PATH".into(), "/usr/bin:/bin".into()),
        ("RAW".into(), OsString::from_vec(b"\xff\xfe".to_vec())),
    ];
    let run = bench.run_with(&exec("sh", &["-c", "cat /proc/$$/environ > got"]), |call| {
        call.environment = wanted.clone();
    });
    assert_eq!(run.code(), 0, "{:?}", run.output);
    let mut bytes = Vec::new();
    for (name, value) in wanted {
        bytes.extend(name.into_vec());
        bytes.push(b'=');
        bytes.extend(value.into_vec());
        bytes.push(0);
    }
    assert_eq!(fs::read(bench.path().join("got")).unwrap(), bytes);

    let bare = bench
        .run_with(&line("echo \"${PATH-none} ${HOME-none} ${USER-none}\""), |call| call.environment.clear());
    assert!(bare.stdout().ends_with("none none\n"), "{}", bare.stdout());
    bench.finish();
}

#[test]
fn directories_and_scripts_may_have_any_name() {
    let bench = Bench::new();
    for name in ODD_NAMES {
        let directory = bench.path().join(name);
        fs::create_dir(&directory).unwrap();
        let script = directory.join(format!("run {name}.sh"));
        write(&script, b"#!/bin/sh\npwd; printf '%s|' \"$@\"; basename \"$0\"\n", 0o755);
        let (script, root) = (script.to_str().unwrap(), directory.to_str().unwrap());
        let wanted = format!("{root}\none|{root}|run {name}.sh\n");
        let forms = [
            exec(script, &["one", root]),
            exec("${ROOT}/run ${NAME}.sh", &["one", "${ROOT}"]),
            line("\"$ROOT/run $NAME.sh\" one \"${ROOT}\""),
            exec("./run ${NAME}.sh", &["one", "${ROOT}"]),
        ];
        for handler in forms {
            let run = bench.run_with(&handler, |call| {
                call.directory.clone_from(&directory);
                call.placeholders =
                    vec![("ROOT".to_owned(), root.to_owned()), ("NAME".to_owned(), (*name).to_owned())];
                call.environment.extend([("ROOT".into(), root.into()), ("NAME".into(), (*name).into())]);
            });
            assert_eq!(run.code(), 0, "{name:?} {:?}", run.output);
            assert_eq!(run.stdout(), wanted, "{handler:?}");
            assert_eq!(run.notes(), "", "{name:?}");
        }
        assert!(!directory.join("pwned").exists() && !bench.path().join("pwned").exists(), "{name}");
    }
    bench.finish();
}

#[test]
fn arguments_stay_what_they_are() {
    let bench = Bench::new();
    let show = bench.file("show", b"#!/bin/sh\nprintf '<%s>' \"$@\"\n", 0o755);
    let show = show.to_str().unwrap();
    let mut args: Vec<&str> = ODD_NAMES.to_vec();
    args.extend(["", "${UNKNOWN}", "$ROOT", "${ROOT"]);
    let run = bench.run_with(&exec(show, &args), |call| {
        call.placeholders = vec![("ROOT".to_owned(), "/root dir".to_owned())];
    });
    let wanted: String = args.iter().map(|arg| format!("<{arg}>")).collect();
    assert_eq!(run.stdout(), wanted);
    bench.finish();
}

#[test]
fn a_value_is_not_expanded_again() {
    let bench = Bench::new();
    let run = bench.run_with(&exec("printf", &["%s", "${A}/${B}/${A}"]), |call| {
        call.placeholders =
            vec![("A".to_owned(), "${B} $(id) `id`".to_owned()), ("B".to_owned(), "${A}".to_owned())];
    });
    assert_eq!(run.stdout(), "${B} $(id) `id`/${A}/${B} $(id) `id`");
    bench.finish();
}

#[test]
fn the_shell_form_is_one_line_for_sh() {
    let bench = Bench::new();
    let table = [
        ("echo one && echo two | tr o 0; echo \"three\"", "one\ntw0\nthree\n"),
        ("cat <<'END'\n$HOME\nEND", "$HOME\n"),
        ("f() { echo \"in f: $1\"; }; f 'a  b'", "in f: a  b\n"),
        ("echo '${PLACE}'", "${PLACE}\n"),
        ("echo $0 $#", "/bin/sh 0\n"),
        ("# nothing but a remark", ""),
        ("", ""),
    ];
    for (command, stdout) in table {
        let run = bench.run_with(&line(command), |call| {
            call.placeholders = vec![("PLACE".to_owned(), "text".to_owned())];
        });
        assert_eq!((run.code(), run.stdout()), (0, stdout), "{command}");
    }
    bench.finish();
}

#[test]
fn a_program_is_found_on_the_hooks_own_path() {
    let bench = Bench::new();
    for folder in ["empty", "plain", "good", "later"] {
        fs::create_dir(bench.path().join(folder)).unwrap();
    }
    bench.file("plain/tool", b"#!/bin/sh\necho plain\n", 0o644);
    bench.file("good/tool", b"#!/bin/sh\necho good\n", 0o755);
    bench.file("later/tool", b"#!/bin/sh\necho later\n", 0o755);
    let run = bench.run_with(&exec("tool", &[]), |call| {
        let root = bench.path().display();
        // The relative folder means the hook's directory, not ours.
        call.environment =
            vec![("PATH".into(), format!("{root}/empty:{root}/plain:good:{root}/later").into())];
    });
    assert_eq!(run.stdout(), "good\n", "{:?}", run.output);
    bench.finish();
}

#[test]
fn a_hook_leads_a_group_and_inherits_no_descriptor() {
    let bench = Bench::new();
    let file = fs::File::open("/dev/null").unwrap();
    let run = bench.run(&line("cut -d' ' -f1,5 /proc/$$/stat"));
    let (pid, group) = run.stdout().trim().split_once(' ').unwrap();
    assert_eq!(pid, group);

    // What whoever started the tests left open for everybody is none of ours.
    let plain = std::process::Command::new("ls").arg("/proc/self/fd").output().unwrap();
    let run = bench.run(&exec("ls", &["/proc/self/fd"]));
    assert_eq!(run.stdout(), String::from_utf8(plain.stdout).unwrap());
    drop(file);
    bench.finish();
}

#[test]
fn powershell_gets_the_line_as_one_argument() {
    let bench = Bench::new();
    let command = "Write-Output \"$env:X\"; exit 0".to_owned();
    let handler =
        Handler::Command(CommandHandler { command: command.clone(), args: None, shell: Shell::PowerShell });
    let missing = bench.run_with(&handler, |call| call.environment.clear());
    let failure = missing.failure(FailureKind::Spawn);
    assert!(failure.message.starts_with("cannot start pwsh"), "{failure:?}");
    assert!(missing.notes().contains("pwsh is not on the PATH of the hook"), "{failure:?}");

    bench.file("pwsh", b"#!/bin/sh\nprintf '%s\\n' \"$@\"\n", 0o755);
    let run = bench.run_with(&handler, |call| {
        call.environment = vec![("PATH".into(), bench.path().as_os_str().to_owned())];
    });
    assert_eq!(run.stdout(), format!("-NoProfile\n-NonInteractive\n-Command\n{command}\n"));
    bench.finish();
}

#[test]
fn bash_is_found_on_the_path_of_the_hook_and_gets_the_line_as_one_argument() {
    let bench = Bench::new();
    let command = "[[ a == ? ]] && echo \"$X\"".to_owned();
    let handler =
        Handler::Command(CommandHandler { command: command.clone(), args: None, shell: Shell::Bash });
    let with_path = |call: &mut hook_core::Call| {
        call.environment = vec![("PATH".into(), bench.path().as_os_str().to_owned())];
    };
    let missing = bench.run_with(&handler, with_path);
    assert!(missing.failure(FailureKind::Spawn).message.starts_with("cannot start bash"));

    bench.file("bash", b"#!/bin/sh\nprintf '%s\\n' \"$@\"\n", 0o755);
    let run = bench.run_with(&handler, with_path);
    assert_eq!(run.stdout(), format!("-c\n{command}\n"));
    bench.finish();
}

#[test]
fn placeholders_in_a_powershell_line_are_variables_of_the_environment() {
    let bench = Bench::new();
    bench.file("pwsh", b"#!/bin/sh\nprintf '%s' \"$4\"\n", 0o755);
    let command = "& \"${ROOT}/x.ps1\" ${OTHER} $ROOT".to_owned();
    let handler = Handler::Command(CommandHandler { command, args: None, shell: Shell::PowerShell });
    let run = bench.run_with(&handler, |call| {
        call.environment = vec![("PATH".into(), bench.path().as_os_str().to_owned())];
        call.placeholders = vec![("ROOT".to_owned(), "/a b".to_owned())];
    });
    assert_eq!(run.stdout(), "& \"${env:ROOT}/x.ps1\" ${OTHER} $ROOT");
    bench.finish();
}

#[test]
fn a_prefix_gets_the_shell_line_as_one_argument_and_programs_go_without() {
    let bench = Bench::new();
    bench.file("log", b"#!/bin/sh\nprintf '[%s]' \"$@\"\n", 0o755);
    let with = |call: &mut hook_core::Call| call.shell_prefix = Some("./log --all".to_owned());
    let table = [
        ("echo one", "[--all][echo one]"),
        ("echo 'it''s' \"$HOME\" && false", "[--all][echo 'it''s' \"$HOME\" && false]"),
        ("a\nb", "[--all][a\nb]"),
    ];
    for (command, stdout) in table {
        assert_eq!(bench.run_with(&line(command), with).stdout(), stdout, "{command}");
    }
    assert_eq!(bench.run_with(&exec("echo", &["one"]), with).stdout(), "one\n");
    bench.finish();
}

#[test]
fn only_commands_are_run() {
    let bench = Bench::new();
    let run = bench.run(&Handler::Http(HttpHandler::new("http://localhost")));
    assert_eq!(run.failure(FailureKind::Spawn).message, "the hook is no command");
    bench.finish();
}
