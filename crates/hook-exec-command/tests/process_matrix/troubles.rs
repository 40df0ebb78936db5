//! Scripts that cannot be started, and the words for it.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use hook_core::{FailureKind, Handler};

use crate::bench::{Bench, exec, line, run, write};

/// How a run has to end.
enum End {
    /// It does not start.
    Spawn,
    /// It exits with one of these codes: shells differ.
    Codes(&'static [i32]),
}

/// `(what, handler, end, hint)`; an empty hint means that there is none.
type Row = (&'static str, Handler, End, &'static str);

fn check(bench: &Bench, rows: Vec<Row>) {
    for (what, handler, end, hint) in rows {
        let run = bench.run_with(&handler, |call| {
            call.environment.push(("ROOT".into(), bench.path().join("My Plugins").into()));
        });
        match end {
            End::Spawn => drop(run.failure(FailureKind::Spawn).message.clone()),
            End::Codes(codes) => assert!(codes.contains(&run.code()), "{what}: {:?}", run.output),
        }
        if hint.is_empty() {
            assert_eq!(run.notes(), "", "{what}: {:?}", run.output);
        } else {
            assert!(run.notes().contains(hint), "{what}: {:?}", run.output);
        }
    }
}

#[test]
fn a_script_that_cannot_run_fails_as_the_platform_does_with_the_cause() {
    let bench = Bench::new();
    bench.file("crlf.sh", b"#!/bin/sh\r\necho ok\r\n", 0o755);
    bench.file("crlf-env.sh", b"#!/usr/bin/env sh\r\necho ok\r\n", 0o755);
    bench.file("crlf-flag.sh", b"#!/bin/sh -e\r\necho ok\r\n", 0o755);
    bench.file("crlf-bare.sh", b"if true\r\nthen echo ok\r\nfi\r\n", 0o644);
    bench.file("nobit.sh", b"#!/bin/sh\necho ok\n", 0o644);
    bench.file("noint.sh", b"#!/opt/none/bin/interp\necho ok\n", 0o755);
    bench.file("noenv.sh", b"#!/usr/bin/env interp-that-is-nowhere\necho ok\n", 0o755);
    fs::create_dir_all(bench.path().join("My Plugins")).unwrap();
    bench.file("My Plugins/run.sh", b"#!/bin/sh\necho ok\n", 0o755);
    let spawn = |what, file, hint| (what, exec(file, &[]), End::Spawn, hint);
    let shell = |what, command, hint| (what, line(command), End::Codes(&[126, 127]), hint);
    check(
        &bench,
        vec![
            spawn("missing", "./gone.sh", "the script does not exist"),
            spawn("missing, absolute", "/opt/none/gone.sh", "the script does not exist: /opt/none/gone.sh"),
            spawn("missing on the PATH", "no-such-tool", "no-such-tool is not on the PATH of the hook"),
            spawn("no run bit", "./nobit.sh", "not executable: chmod +x"),
            spawn("CRLF", "./crlf.sh", "the script has CRLF line ends"),
            spawn(
                "no interpreter",
                "./noint.sh",
                "the interpreter /opt/none/bin/interp of the script does not exist",
            ),
            spawn("a directory", "./My Plugins", "is a directory"),
            spawn("a line with args", "python3 x.py", "command is one program"),
            ("CRLF for env", exec("./crlf-env.sh", &[]), End::Codes(&[127]), "CRLF line ends"),
            ("CRLF after a flag", exec("./crlf-flag.sh", &[]), End::Codes(&[2]), "CRLF line ends"),
            ("env finds nothing", exec("./noenv.sh", &[]), End::Codes(&[127]), "interp-that-is-nowhere"),
            shell("missing", "./gone.sh", "the script does not exist: ./gone.sh"),
            shell("missing, silent", "./gone.sh 2>/dev/null", "the script does not exist: ./gone.sh"),
            shell(
                "missing on the PATH",
                "no-such-tool --flag",
                "no-such-tool is not on the PATH of the hook",
            ),
            shell("missing after cd", "cd / && no-such-tool", "no-such-tool is not on the PATH of the hook"),
            shell("missing in a pipe", "true | no-such-tool", "no-such-tool is not on the PATH of the hook"),
            shell("no run bit", "./nobit.sh", "not executable: chmod +x './nobit.sh'"),
            shell("CRLF", "./crlf.sh one", "the script has CRLF line ends"),
            shell("CRLF for env", "exec ./crlf-env.sh", "the script has CRLF line ends"),
            shell("no interpreter", "./noint.sh", "the interpreter /opt/none/bin/interp"),
            shell("env finds nothing", "./noenv.sh", "interp-that-is-nowhere is not on the PATH of the hook"),
            shell("split path", "$ROOT/run.sh one", "is the path in double quotes?"),
            shell("split path, braces", "${ROOT}/run.sh one", "is the path in double quotes?"),
            ("CRLF after a flag", line("X=1 ./crlf-flag.sh"), End::Codes(&[2]), "CRLF line ends"),
            ("CRLF read by sh", line("sh crlf-bare.sh"), End::Codes(&[2, 127]), "CRLF line ends"),
        ],
    );
    bench.finish();
}

#[test]
fn codes_that_mean_something_else_get_no_hint() {
    let bench = Bench::new();
    bench.file("good.sh", b"#!/bin/sh\nexit $1\n", 0o755);
    fs::create_dir(bench.path().join("My Plugins")).unwrap();
    let same = |code: &'static [i32], handler| ("plain", handler, End::Codes(code), "");
    check(
        &bench,
        vec![
            same(&[2], exec("./good.sh", &["2"])),
            same(&[126], exec("./good.sh", &["126"])),
            same(&[127], exec("./good.sh", &["127"])),
            same(&[2], line("./good.sh 2")),
            same(&[127], line("./good.sh 127")),
            same(&[126], line("sh ./good.sh 126")),
            same(&[127], line("\"$ROOT/../good.sh\" 127")),
            same(&[1], line("./gone.sh || exit 1")),
            same(&[127], line("exit 127")),
        ],
    );
    bench.finish();
}

#[test]
fn a_script_that_names_no_interpreter_is_given_to_sh() {
    let bench = Bench::new();
    bench.file("bare", b"echo \"bare $1\"; cat; exit 3\n", 0o755);
    bench.file("empty", b"", 0o755);
    for handler in [exec("./bare", &["a b"]), line("./bare 'a b'")] {
        let run = bench.run(&handler);
        assert_eq!((run.code(), run.stdout()), (3, "bare a b\n{}"));
    }
    let run = bench.run(&exec("./bare", &[]));
    assert!(run.notes().contains("it was given to sh"), "{}", run.notes());
    assert_eq!(bench.run(&exec("./empty", &[])).code(), 0);
    bench.finish();
}

#[test]
fn a_binary_of_another_system_is_not_read_as_a_script() {
    let bench = Bench::new();
    bench.file("alien", b"\x7fALIEN\x00\x01exit 2\ntouch pwned\n", 0o755);
    let run = bench.run(&exec("./alien", &[]));
    assert!(run.failure(FailureKind::Spawn).message.contains("no program of this system"));
    assert!(!bench.path().join("pwned").exists());
    bench.finish();
}

/// A directory that was removed under a session is no reason not to look: the project, the home, a place for temporary files.
#[test]
fn a_directory_that_is_gone_is_replaced_by_the_next_best() {
    let bench = Bench::new();
    let gone = bench.path().join("gone");
    let (home, temporary) = (bench.path().join("home"), bench.path().join("tmp"));
    std::fs::create_dir(&home).unwrap();
    std::fs::create_dir(&temporary).unwrap();
    let rows = [
        (bench.path().to_owned(), Some(home.clone()), bench.path().to_owned()),
        (gone.clone(), Some(home.clone()), home.clone()),
        (gone.clone(), None, temporary.clone()),
    ];
    for (project, home, expected) in rows {
        for handler in [line("pwd"), exec("/bin/pwd", &[])] {
            let run = bench.run_at(&handler, &project, home.as_deref(), |call| {
                call.directory.clone_from(&gone);
                call.environment.push(("TMPDIR".into(), temporary.clone().into()));
            });
            assert_eq!(run.stdout().trim_end(), expected.to_str().unwrap());
            let said = format!("the working directory {} does not exist; the hook ran in", gone.display());
            assert!(run.notes().contains(&said), "{}", run.notes());
        }
    }
    bench.finish();
}

#[test]
fn what_the_system_refuses_is_said() {
    let bench = Bench::new();
    for handler in [line("true"), exec("true", &[])] {
        let run = bench
            .run_with(&handler, |call| call.environment.push(("BIG".into(), "x".repeat(300_000).into())));
        run.failure(FailureKind::Spawn);
        assert!(run.notes().contains("longer than the system takes"), "{:?}", run.output);

        let run = bench.run_with(&handler, |call| call.environment.push(("ZERO".into(), "a\0b".into())));
        run.failure(FailureKind::Spawn);
    }
    bench.run(&exec("echo", &["a\0b"])).failure(FailureKind::Spawn);
    bench.run(&exec("", &[])).failure(FailureKind::Spawn);
    bench.finish();
}

#[test]
fn a_script_that_is_still_written_is_waited_for() {
    let bench = Bench::new();
    let path = bench.file("slow.sh", b"#!/bin/sh\necho written\n", 0o755);
    for handler in [exec("./slow.sh", &[]), line("./slow.sh")] {
        let writer = fs::File::options().append(true).open(&path).unwrap();
        let late = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(60));
            drop(writer);
        });
        let run = bench.run(&handler);
        assert_eq!((run.stdout(), run.notes().as_str()), ("written\n", ""), "{handler:?}");
        late.join().unwrap();
    }

    let writer = fs::File::options().append(true).open(&path).unwrap();
    let never = bench.run(&exec("./slow.sh", &[]));
    never.failure(FailureKind::Spawn);
    assert!(never.notes().contains("open for writing"), "{:?}", never.output);
    assert!(never.elapsed < Duration::from_millis(700), "{:?}", never.elapsed);
    let shell = bench.run(&line("./slow.sh"));
    assert_eq!(shell.code(), 126);
    assert!(shell.notes().contains("open for writing"), "{:?}", shell.output);
    bench.run(&line("echo ran >> ran; ./slow.sh"));
    assert_eq!(
        fs::read_to_string(bench.path().join("ran")).unwrap(),
        "ran\n",
        "a line that did something is not repeated"
    );
    let deadline = Duration::from_millis(50);
    let short = bench.run_for(&exec("./slow.sh", &[]), deadline);
    short.failure(FailureKind::Spawn);
    short.assert_within(deadline);
    drop(writer);
    bench.finish();
}

/// Scripts are written and started at once while other threads start processes that inherit the open files for a moment.
#[test]
fn fresh_scripts_start_while_others_fork() {
    let bench = Bench::new();
    let stop = AtomicBool::new(false);
    let write_and_run = async |name: String| {
        write(&bench.path().join(&name), b"#!/bin/sh\nexit 0\n", 0o755);
        run(&exec(&format!("./{name}"), &[]), bench.call()).await
    };
    let runs = std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::process::Command::new("true").status().unwrap();
                }
            });
        }
        let mut runs = Vec::new();
        for round in 0..20 {
            let names = (0..16).map(|number| format!("s{round}-{number}.sh"));
            runs.extend(bench.runtime().block_on(join_all(names.map(&write_and_run))));
        }
        stop.store(true, Ordering::Relaxed);
        runs
    });
    for run in runs {
        assert_eq!(run.code(), 0);
    }
    bench.finish();
}
