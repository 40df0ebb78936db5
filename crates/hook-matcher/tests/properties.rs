//! What holds for every matcher.

use hook_core::Flavour::{Aimon, AimonStrict, Amplifier, Claude, ClaudeNarrow, Native};
use hook_matcher::Matcher;
use proptest::prelude::*;

/// Characters that mean something in one of the languages.
const SPECIAL: &str = "[\\\\(){}\\[\\]?*+|^$.a-c0-2:=!<>PxuUk&, _-]{0,24}";

fn escape(text: &str) -> String {
    let special = |c: char| if c.is_ascii_punctuation() { Some('\\') } else { None };
    text.chars().flat_map(|c| special(c).into_iter().chain([c])).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(
        matcher in prop_oneof!["\\PC{0,40}", SPECIAL, "[(\\[\\\\?a-zA-Z0-9)\\]{}*+|]{0,30}", any::<String>()],
        value in prop_oneof!["\\PC{0,20}", "[a-c\n_]{0,9}"],
    ) {
        for flavour in [Claude, ClaudeNarrow, Amplifier, Native, Aimon, AimonStrict] {
            let compiled = Matcher::compile(Some(&matcher), flavour);
            compiled.matcher.matches([value.as_str()]);
            compiled.matcher.judge(&["Bash"], &serde_json::json!({"command": value}));
            compiled.matcher.matches([]);
            prop_assert!(!compiled.matcher.describe().is_empty());
            let unreadable = compiled.problems.iter().any(|p| p.kind == hook_matcher::ProblemKind::Unreadable);
            prop_assert_eq!(compiled.matcher.is_unreadable(), unreadable, "{:?}", compiled.problems);
            let mut last = 0;
            for problem in compiled.problems {
                prop_assert!(matcher.get(problem.span.start..problem.span.end).is_some(), "{:?}", problem);
                prop_assert!(problem.span.start < problem.span.end && problem.span.start >= last, "{:?}", problem);
                last = problem.span.start;
            }
        }
    }

    #[test]
    fn exact_lists_agree_with_a_model(
        names in prop::collection::vec("[A-C]{1,2}", 1..4),
        commas in any::<bool>(),
        values in prop::collection::vec("[A-C]{1,2}", 1..3),
    ) {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let expected = values.iter().any(|value| names.iter().any(|name| name == value));
        let list = names.join(if commas { " , " } else { "|" });
        for flavour in [Claude, Native] {
            let matcher = Matcher::compile(Some(&list), flavour).matcher;
            prop_assert_eq!(matcher.matches(values.iter().copied()), expected);
            prop_assert_eq!(matcher.exact_names(), Some(names.as_slice()));
        }
        let list = names.join("|");
        prop_assert_eq!(Matcher::compile(Some(&list), ClaudeNarrow).matcher.matches(values.iter().copied()), expected);
        let lower: Vec<String> = values.iter().map(|value| value.to_lowercase()).collect();
        let matcher = Matcher::compile(Some(&list), Amplifier).matcher;
        prop_assert_eq!(matcher.matches(lower.iter().map(String::as_str)), expected);
        let anchored = format!("^(?:{list})$");
        for flavour in [Claude, ClaudeNarrow, Native] {
            prop_assert_eq!(Matcher::compile(Some(&anchored), flavour).matcher.matches(values.iter().copied()), expected);
        }
    }

    #[test]
    fn escaped_text_matches_itself_and_nothing_else(text in "[ -;=?-~]{1,12}", other in "[ -;=?-~]{1,12}") {
        let pattern = format!("^{}$", escape(&text));
        for flavour in [Claude, ClaudeNarrow, Native] {
            let matcher = Matcher::compile(Some(&pattern), flavour).matcher;
            prop_assert!(matcher.matches([text.as_str()]), "{:?} {}", flavour, pattern);
            prop_assert_eq!(matcher.matches([other.as_str()]), text == other, "{:?} {}", flavour, pattern);
        }
        let matcher = Matcher::compile(Some(&format!("(?:{})", escape(&text))), Amplifier).matcher;
        prop_assert!(matcher.matches([text.as_str()]), "{}", pattern);
        prop_assert_eq!(matcher.matches([other.as_str()]), text.eq_ignore_ascii_case(&other), "{}", pattern);
    }

    #[test]
    fn amplifier_ignores_letter_case(
        pattern in prop_oneof!["[A-Da-d]{1,3}(\\|[A-Da-d]{1,3})?", "[A-Da-d]\\.\\*[a-d]?", "\\[[a-c]-d\\][A-D]\\+?", SPECIAL],
        value in "[A-Da-d]{0,5}",
    ) {
        // Flags in the pattern may demand case again.
        if pattern.contains("-i") {
            return Ok(());
        }
        let matcher = Matcher::compile(Some(&pattern), Amplifier).matcher;
        let verdict = matcher.matches([value.as_str()]);
        prop_assert_eq!(matcher.matches([value.to_lowercase().as_str()]), verdict, "{}", pattern);
        prop_assert_eq!(matcher.matches([value.to_uppercase().as_str()]), verdict, "{}", pattern);
    }

    #[test]
    fn shapes_without_an_engine_agree_with_one(
        pattern in "\\^?(a|b|ab|\\.\\*|\\.\\*\\?|\\(a\\|bb\\)|c\\?){1,5}\\$?",
        value in "[abc\n]{0,7}",
    ) {
        let matcher = Matcher::compile(Some(&pattern), Claude).matcher;
        let list = pattern.bytes().all(|b| b.is_ascii_alphanumeric());
        let js = pattern.replace('.', "[^\n\r\u{2028}\u{2029}]");
        let model = if list { value == pattern } else { regex::Regex::new(&js).unwrap().is_match(&value) };
        prop_assert_eq!(matcher.matches([value.as_str()]), model, "{}: {}", pattern, matcher.describe());
        let matcher = Matcher::compile(Some(&pattern), Amplifier).matcher;
        let model = regex::Regex::new(&format!("\\A(?i:{pattern})\\z")).unwrap().is_match(&value);
        prop_assert_eq!(matcher.matches([value.as_str()]), model, "{}: {}", pattern, matcher.describe());
    }

    #[test]
    fn native_patterns_are_those_of_rust(pattern in SPECIAL, value in "[a-c0-2]{0,6}") {
        let listlike = |c: char| c.is_ascii_alphanumeric() || "_- ,|*.:/".contains(c);
        let list = pattern.chars().all(listlike) && !pattern.contains(".*");
        // Look-around and predicates are no patterns of that crate.
        if list || pattern.contains('(') || pattern.contains(" & ") {
            return Ok(());
        }
        let Ok(model) = regex::Regex::new(&pattern) else { return Ok(()) };
        let compiled = Matcher::compile(Some(&pattern), Native);
        prop_assert!(!compiled.matcher.is_unreadable(), "{}: {:?}", pattern, compiled.problems);
        prop_assert_eq!(compiled.matcher.matches([value.as_str()]), model.is_match(&value), "{}", pattern);
    }
}
