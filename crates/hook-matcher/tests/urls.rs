//! Which URLs a pattern lets through.

use hook_matcher::UrlPattern;

#[test]
fn urls_fit_by_part() {
    let table: &[(&str, &str, bool)] = &[
        ("*", "https://anything.test/x", true),
        ("*", "no url", false),
        ("https://a.test/hook", "https://a.test/hook", true),
        ("https://a.test/hook", "https://a.test/hook2", false),
        ("https://a.test/hook", "https://a.test/HOOK", false),
        ("https://a.test/hook", "HTTPS://A.TEST./hook", true),
        ("HTTPS://A.Test./hook", "https://a.test/hook", true),
        ("https://a.test/hook", "http://a.test/hook", false),
        ("*://a.test/hook", "http://a.test/hook", true),
        ("https://a.test", "https://a.test/", true),
        ("https://a.test", "https://a.test", true),
        ("https://a.test", "https://a.test/x", false),
        ("https://a.test/*", "https://a.test/x/y?z=1#f", true),
        ("https://a.test/*", "https://a.test", true),
        ("https://a.test/x?*", "https://a.test/x?k=v", true),
        ("https://a.test/*", "https://a.test.evil.test/x", false),
        ("https://*.test/*", "https://a.test/x", true),
        ("https://*.test/*", "https://a.b.test/x", true),
        ("https://*.test/*", "https://evil.example/.test/x", false),
        ("https://*.test/*", "https://evil.example?.test/x", false),
        ("https://*.test/*", "https://evil.example#.test/x", false),
        ("https://*.test/*", "https://evil.example\\.test/x", false),
        ("https://*.test/*", "https://a.test@evil.example/x", false),
        ("https://a.test/*", "https://user:pass@a.test/x", true),
        ("https://a.test/*", "https://a.test:443/x", true),
        ("https://a.test:443/*", "https://a.test/x", true),
        ("https://a.test/*", "https://a.test:8443/x", false),
        ("https://a.test:*/x", "https://a.test:8443/x", true),
        ("https://a.test:80*/x", "https://a.test:8080/x", true),
        ("https://a.test:*/x", "https://a.test/y", false),
        ("http://localhost:*", "http://localhost:9/hook", true),
        ("http://localhost*", "http://localhost:9/hook", true),
        ("http://localhost/*", "http://localhost:9/hook", false),
        ("http://[::1]:9/*", "http://[::1]:9/x", true),
        ("http://[::1]/*", "http://[::1]/x", true),
        ("https://a.test/in/*", "https://a.test/in/../out", false),
        ("https://a.test/in/*", "https://a.test/in/%2e%2E/out", false),
        ("https://a.test/in/*", "https://a.test/in/x/../y", true),
        ("https://a.test/in/*", "https://a.test/in\\..\\out", false),
        ("https://a.test/*/b", "https://a.test/a/./b", true),
        ("https://a.test/*", "https://a.te\tst/x", false),
        ("https://a.test/*", " https://a.test/x", false),
        ("https://*/*", "https:///x", false),
        ("https://*/*", "https://%61.test/x", false),
        ("a.test/*", "https://a.test/x", false),
        ("", "https://a.test/", false),
        ("https://a.test/", "/hook", false),
    ];
    for (pattern, url, fits) in table {
        assert_eq!(UrlPattern::new(pattern).matches(url), *fits, "{pattern} {url}");
    }
}
