//! `hook get`, as hook scripts use it.

use crate::place::Place;

#[test]
fn fields_are_printed_and_absent_ones_are_not() {
    let place = Place::new();
    let input = br#"{"tool_input": {"command": "ls -l", "lines": [1, {"x": null}]}}"#;
    let table: [(&[&str], i32, &str); 8] = [
        (&[".tool_input.command"], 0, "ls -l\n"),
        (&[".tool_input.command", "--json"], 0, "\"ls -l\"\n"),
        (&[".tool_input.lines[0]"], 0, "1\n"),
        (&[".tool_input.lines[1]"], 0, "{\"x\": null}\n"),
        (&[".tool_input.lines[1].x"], 1, ""),
        (&[".missing"], 1, ""),
        (&[".missing", "--default", "-"], 0, "-\n"),
        (&[".missing", ".tool_input.command"], 0, "ls -l\n"),
    ];
    for (arguments, code, stdout) in table {
        let arguments: Vec<&str> = ["get"].iter().chain(arguments).copied().collect();
        let said = place.hook_fed(&arguments, input);
        assert_eq!((said.code, said.stdout.as_str()), (Some(code), stdout), "{arguments:?}");
    }
}

#[test]
fn bad_input_and_bad_paths_are_no_absence() {
    let place = Place::new();
    for input in [&b""[..], b"{", b"{} {}", b"\xff", &[b'['; 1 << 20]] {
        place.hook_fed(&["get", ".a", "--default", "x"], input).exits(65).tells(&["standard input"]);
    }
    place.hook_fed(&["get", "a"], b"{}").exits(64).tells(&["for instance"]);
}
