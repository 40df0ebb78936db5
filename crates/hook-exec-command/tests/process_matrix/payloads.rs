//! What goes in and comes out.

use std::fs;
use std::time::Duration;

use futures_util::future::{join, join_all};
use hook_core::FailureKind;
use hook_exec::limits::MAX_STREAM;

use crate::bench::{Bench, exec, line, run};

#[test]
fn a_mebibyte_goes_both_ways() {
    let bench = Bench::new();
    let text: String = (0..MAX_STREAM / 8).map(|number| format!("{number:07}\n")).collect();
    for command in ["cat", "cat >&2", "tee /dev/stderr"] {
        let run = bench.run_with(&line(command), |call| call.input = text.clone().into_bytes());
        let process = run.process();
        let wanted = |name| if command == name { "" } else { text.as_str() };
        assert!(process.stdout.text == wanted("cat >&2"), "{command}");
        assert!(process.stderr.text == wanted("cat"), "{command}");
        assert_eq!((process.stdout.dropped, process.stderr.dropped), (0, 0), "{command}");
        assert_eq!(run.notes(), "", "{command}");
    }
    bench.finish();
}

#[test]
fn input_arrives_byte_by_byte_and_ends() {
    let bench = Bench::new();
    for input in
        [&b""[..], b"{}", b"no line feed", b"two\n\n", b"\xff\x00\r\n\xc3", "\u{feff}é\u{2028}".as_bytes()]
    {
        let run = bench.run_with(&line("cat > got"), |call| call.input = input.to_vec());
        assert_eq!(run.code(), 0);
        assert_eq!(fs::read(bench.path().join("got")).unwrap(), input);
    }
    bench.finish();
}

#[test]
fn a_hook_that_does_not_read_is_fine() {
    let bench = Bench::new();
    let table = [
        ("exit 0", 0, ""),
        ("exit 3", 3, ""),
        ("exec 0<&-; sleep 0.1; echo lingered", 0, "lingered\n"),
        ("head -c 5; sleep 0.1", 0, "aaaaa"),
        ("echo said without reading", 0, "said without reading\n"),
    ];
    for (command, code, stdout) in table {
        let run = bench.run_with(&line(command), |call| call.input = vec![b'a'; 2_000_000]);
        assert_eq!((run.code(), run.stdout()), (code, stdout), "{command}");
        assert_eq!(run.notes(), "", "{command}");
    }
    bench.finish();
}

#[test]
fn a_hook_that_closes_its_output_is_waited_for() {
    let bench = Bench::new();
    for command in ["exec 1>&-; sleep 0.2; exit 3", "exec 1>&- 2>&-; sleep 0.2; exit 3"] {
        let run = bench.run(&line(command));
        assert_eq!(run.code(), 3, "{command}");
        assert!(run.elapsed >= Duration::from_millis(200), "{command}");
    }
    bench.finish();
}

#[test]
fn silence_is_an_answer() {
    let bench = Bench::new();
    let run = bench.run(&line(":"));
    assert_eq!((run.code(), run.stdout(), run.process().stderr.text.as_str()), (0, "", ""));
    bench.finish();
}

#[test]
fn output_that_is_no_utf8_is_kept_with_replacement_characters() {
    let bench = Bench::new();
    let run = bench.run(&line(r"printf '\377ok\303'; printf '\200' >&2"));
    let process = run.process();
    assert_eq!((process.stdout.text.as_str(), process.stdout.lossy), ("\u{fffd}ok\u{fffd}", true));
    assert_eq!((process.stderr.text.as_str(), process.stderr.lossy), ("\u{fffd}", true));
    bench.finish();
}

#[test]
fn characters_that_arrive_in_pieces_stay_whole() {
    let bench = Bench::new();
    let run = bench.run(&line(
        r"printf '\303'; sleep 0.05; printf '\251'; sleep 0.05; printf '\342\202'; printf '\254'",
    ));
    assert_eq!((run.stdout(), run.process().stdout.lossy), ("é€", false));

    // An odd offset puts the end of every read into the middle of a character.
    let text = format!("a{}", "é".repeat(200_000));
    let run = bench.run_with(&line("cat"), |call| call.input = text.clone().into_bytes());
    assert!(run.stdout() == text && !run.process().stdout.lossy);
    bench.finish();
}

#[test]
fn what_is_too_much_is_read_counted_and_said() {
    let bench = Bench::new();
    let run = bench.run(&line("yes | head -c 5000000; yes | head -c 3000000 >&2; exit 1"));
    let process = run.process();
    assert_eq!(run.code(), 1);
    for (stream, total) in [(&process.stdout, 5_000_000), (&process.stderr, 3_000_000)] {
        assert_eq!(stream.text.len(), MAX_STREAM);
        assert_eq!(stream.dropped as usize, total - MAX_STREAM);
    }
    assert!(run.notes().contains("standard output was longer"), "{}", run.notes());
    assert!(run.notes().contains("standard error was longer"), "{}", run.notes());
    bench.finish();
}

#[test]
fn endless_output_ends_at_the_deadline_in_bounded_memory() {
    let bench = Bench::new();
    let timeout = Duration::from_millis(700);
    let before = peak_memory();
    for command in [
        "cat /dev/zero",
        "cat /dev/zero >&2",
        "yes & cat /dev/zero >&2",
        "trap '' TERM; while :; do yes; done",
    ] {
        let run = bench.run_for(&line(command), timeout);
        run.failure(FailureKind::Timeout);
        run.assert_within(timeout);
    }
    // The kernel's counters of threads are joined loosely, so that even a peak can be lower when it is read again.
    let grown = peak_memory().saturating_sub(before);
    assert!(grown < 32 * 1024, "{grown} KiB more");
    bench.finish();
}

#[test]
fn a_hundred_hooks_at_once_get_their_own_answers() {
    let bench = Bench::new();
    let handler = line("cat; echo \"$NUMBER\" >&2; exit $((NUMBER % 7))");
    let runs = (0..100).map(|number: usize| {
        let mut call = bench.call();
        call.input = number.to_string().repeat(5000).into_bytes();
        call.environment.push(("NUMBER".into(), number.to_string().into()));
        run(&handler, call)
    });
    let runs = bench.runtime().block_on(join_all(runs));
    for (number, run) in runs.iter().enumerate() {
        assert_eq!(run.code() as usize, number % 7);
        assert!(run.stdout() == number.to_string().repeat(5000), "{number}");
        assert_eq!(run.process().stderr.text, format!("{number}\n"));
        assert_eq!(run.notes(), "");
    }
    bench.finish();
}

/// All of them are futures of one task: none may keep the others from being looked at.
#[test]
fn a_hook_that_writes_endlessly_holds_up_nobody() {
    let bench = Bench::new();
    let long = Duration::from_secs(2);
    let short = Duration::from_millis(400);
    let hog = line("cat /dev/zero & cat /dev/zero >&2");
    let (quick, stuck) = (line("cat"), exec("sleep", &[&bench.mark]));
    let hogs = join_all((0..3).map(|_| {
        let mut call = bench.call();
        call.timeout = long;
        run(&hog, call)
    }));
    let others = async {
        let quick = join_all((0..5).map(|_| run(&quick, bench.call())));
        let stuck = join_all((0..5).map(|_| {
            let mut call = bench.call();
            call.timeout = short;
            run(&stuck, call)
        }));
        join(quick, stuck).await
    };
    let (hogs, (quick, stuck)) = bench.runtime().block_on(join(hogs, others));
    for run in hogs {
        run.failure(FailureKind::Timeout);
        run.assert_within(long);
    }
    for run in quick {
        assert_eq!(run.stdout(), "{}");
        assert!(run.elapsed < long / 2, "{:?}", run.elapsed);
    }
    for run in stuck {
        run.failure(FailureKind::Timeout);
        run.assert_within(short);
    }
    bench.finish();
}

/// The process's highest memory use so far, in KiB.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}
