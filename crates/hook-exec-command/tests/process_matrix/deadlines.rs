//! Processes that do not end, or leave others behind.

use std::time::Duration;

use hook_core::{Exit, FailureKind};

use crate::bench::{Bench, exec, line, run, runtime};

const TIMEOUT: Duration = Duration::from_millis(300);

#[test]
fn the_whole_group_ends_at_the_deadline() {
    let bench = Bench::new();
    let mark = bench.mark.clone();
    let table = [
        ("plain", format!("sleep {mark}")),
        ("child", format!("sleep {mark} & wait")),
        ("child that ignores TERM", format!("sh -c 'trap \"\" TERM; sleep {mark}' & wait")),
        ("leader that ignores TERM", format!("trap '' TERM; sleep {mark}; sleep {mark}")),
        (
            "leader that exits at TERM, child that does not",
            format!("trap 'exit 0' TERM; (trap '' TERM; sleep {mark}) & wait"),
        ),
        ("child without the pipes", format!("sleep {mark} </dev/null >/dev/null 2>&1 & wait")),
        ("stopped", format!("sh -c 'kill -STOP $$; sleep {mark}'; true {mark}")),
        ("many", format!("for i in 1 2 3 4 5 6 7 8 9; do sleep {mark} & done; wait")),
        ("deep", format!("sh -c 'sh -c \"sh -c \\\"sleep {mark}; true\\\"; true\"; true'; true")),
        ("a group of its own by timeout", format!("timeout 60 sleep {mark}; true")),
        ("the same, ignoring TERM", format!("timeout 60 sh -c 'trap \"\" TERM; sleep {mark}; true'; true")),
        ("a group of its own by job control", format!("bash -c 'set -m; sleep {mark} | cat & wait'; true")),
        ("closed pipes", format!("exec 0<&- 1>&- 2>&-; sleep {mark}")),
    ];
    for (name, command) in table {
        let run = bench.run_for(&line(&command), TIMEOUT);
        assert_eq!(run.failure(FailureKind::Timeout).message, "Hook timed out after 0.3s", "{name}");
        assert!(run.elapsed >= TIMEOUT, "{name}");
        run.assert_within(TIMEOUT);
        bench.assert_gone();
        bench.assert_reaped();
    }
    bench.finish();
}

#[test]
fn a_hook_may_clean_up_and_its_last_words_are_told() {
    let bench = Bench::new();
    let command = format!("trap 'echo bye >&2; touch cleaned; exit 0' TERM; sleep {} & wait", bench.mark);
    let run = bench.run_for(&line(&command), TIMEOUT);
    run.failure(FailureKind::Timeout);
    assert!(run.notes().contains("its last words: bye"), "{}", run.notes());
    assert!(bench.path().join("cleaned").exists());
    bench.finish();
}

#[test]
fn the_deadline_covers_the_writing_of_the_input() {
    let bench = Bench::new();
    let run = bench.run_with(&exec("sleep", &[&bench.mark]), |call| {
        call.input = vec![b'a'; 4_000_000];
        call.timeout = TIMEOUT;
    });
    run.failure(FailureKind::Timeout);
    run.assert_within(TIMEOUT);
    assert!(run.notes().contains("had not read all of its input"), "{}", run.notes());
    bench.finish();
}

#[test]
fn the_shortest_and_the_longest_budgets_work() {
    let bench = Bench::new();
    let run = bench.run_for(&exec("sleep", &[&bench.mark]), Duration::from_millis(1));
    run.failure(FailureKind::Timeout);
    run.assert_within(Duration::from_millis(1));
    assert_eq!(bench.run_for(&line("echo hi"), Duration::MAX).stdout(), "hi\n");
    bench.finish();
}

#[test]
fn pipes_held_by_a_grandchild_are_waited_for_a_moment() {
    let bench = Bench::new();
    let command = format!("sleep {} & echo out; echo err >&2; exit 2", bench.mark);
    let run = bench.run(&line(&command));
    assert_eq!((run.code(), run.stdout(), run.process().stderr.text.as_str()), (2, "out\n", "err\n"));
    assert!(run.notes().contains("still holds its output"), "{}", run.notes());
    assert!(
        run.elapsed >= Duration::from_millis(250) && run.elapsed < Duration::from_secs(1),
        "{:?}",
        run.elapsed
    );
    assert!(!bench.marked().is_empty(), "what a hook leaves in the background goes on");
    bench.end_marked();
    bench.finish();
}

#[test]
fn a_grandchild_that_is_soon_done_is_heard() {
    let bench = Bench::new();
    let run = bench.run(&line("(sleep 0.02; echo late) & echo early"));
    assert_eq!((run.stdout(), run.notes().as_str()), ("early\nlate\n", ""));

    // It also gets the rest of the input: more than a pipe holds, so most of it is written after the hook has exited.
    let run = bench.run_with(&line("exec 3<&0; wc -c <&3 & exit 0"), |call| call.input = vec![b'a'; 300_000]);
    assert_eq!(run.stdout().trim(), "300000", "{}", run.notes());
    bench.finish();
}

#[test]
fn a_daemon_is_reported_and_not_waited_for() {
    let bench = Bench::new();
    let mark = &bench.mark;
    let quiet = bench.run(&line(&format!("setsid sleep {mark} </dev/null >/dev/null 2>&1 & echo done")));
    assert_eq!((quiet.stdout(), quiet.notes().as_str()), ("done\n", ""));
    let holding = bench.run(&line(&format!("setsid sleep {mark} & echo done")));
    assert_eq!(holding.stdout(), "done\n");
    assert!(holding.notes().contains("still holds its output"), "{}", holding.notes());
    assert!(holding.elapsed < Duration::from_secs(1), "{:?}", holding.elapsed);

    let stuck = bench.run_for(&line(&format!("setsid sleep {mark} & sleep 77{mark}")), TIMEOUT);
    stuck.failure(FailureKind::Timeout);
    stuck.assert_within(TIMEOUT);
    let left = bench.marked().len();
    assert_eq!(left, 3, "the daemons live, what belongs to the hook does not");
    bench.end_marked();
    bench.finish();
}

#[test]
fn signals_are_told_from_codes() {
    let bench = Bench::new();
    for (name, number) in [("KILL", 9), ("TERM", 15), ("SEGV", 11), ("PIPE", 13), ("ALRM", 14)] {
        let run = bench.run(&line(&format!("echo before; kill -{name} $$")));
        assert_eq!((run.process().exit, run.stdout()), (Exit::Signal(number), "before\n"), "{name}");
    }
    for code in [0, 1, 2, 64, 130, 137, 255] {
        assert_eq!(bench.run(&line(&format!("exit {code}"))).code(), code);
    }
    bench.finish();
}

#[test]
fn a_dropped_run_leaves_nothing_behind() {
    let bench = Bench::new();
    let mark = &bench.mark;
    let command = line(&format!(
        "trap '' TERM; timeout 60 sh -c 'trap \"\" TERM; sleep {mark}; true' & sleep {mark}; true"
    ));
    for with_runtime in [false, true] {
        let own = runtime();
        own.block_on(async {
            let hook = run(&command, bench.call());
            tokio::select! {
                run = hook => panic!("ended by itself: {:?}", run.output),
                () = bench.until_marked() => {}
            }
            // The drop sees to the leader; no runtime has to be driven for that.
            bench.assert_reaped();
        });
        if with_runtime {
            let handler = command.clone();
            let call = bench.call();
            let task = own.spawn(async move { run(&handler, call).await });
            own.block_on(bench.until_marked());
            drop(own);
            drop(task);
            bench.assert_reaped();
        }
        bench.assert_gone();
    }
    bench.finish();
}

#[test]
fn a_run_dropped_while_a_grandchild_holds_the_pipes_lets_that_live() {
    let bench = Bench::new();
    let command = line(&format!("sleep {} & exit 0", bench.mark));
    bench.runtime().block_on(async {
        let hook = run(&command, bench.call());
        assert!(tokio::time::timeout(Duration::from_millis(150), hook).await.is_err());
    });
    // The leader was reaped: its number may be somebody else's, so nobody is signalled.
    assert!(!bench.marked().is_empty());
    bench.end_marked();
    bench.finish();
}

#[test]
fn dropping_many_runs_at_once_is_quick_and_clean() {
    let bench = Bench::new();
    let command = exec("sleep", &[&bench.mark]);
    let started = bench.runtime().block_on(async {
        let runs = futures_util::future::join_all((0..40).map(|_| run(&command, bench.call())));
        let all_run = async {
            while bench.marked().len() < 40 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            _ = runs => panic!("ended by themselves"),
            () = all_run => std::time::Instant::now(),
        }
    });
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    bench.assert_reaped();
    bench.finish();
}
