//! The catalogue of findings. A code, once published, keeps its meaning; a slug is its readable name.
//!
//! Ranges: `HK1xx` files and their syntax, `HK2xx` shape of hook files, `HK3xx` matchers, `HK4xx` handlers and timeouts,
//! `HK5xx` commands and scripts, `HK6xx` payloads and runs.

use std::fmt;

use super::Severity;

/// The identity of a finding: `HK201 unknown-event`.
#[derive(Clone, Copy)]
pub struct Code(&'static Entry);

struct Entry {
    number: &'static str,
    slug: &'static str,
    severity: Severity,
    summary: &'static str,
}

impl Code {
    /// The stable number, `HK201`.
    pub fn number(self) -> &'static str {
        self.0.number
    }

    /// The stable name, `unknown-event`.
    pub fn slug(self) -> &'static str {
        self.0.slug
    }

    /// Its usual severity.
    pub fn severity(self) -> Severity {
        self.0.severity
    }

    /// One sentence for the catalogue.
    pub fn summary(self) -> &'static str {
        self.0.summary
    }

    /// The code with this slug.
    pub fn from_slug(slug: &str) -> Option<Code> {
        ALL.iter().copied().find(|code| code.slug() == slug)
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Code) -> bool {
        self.0.number == other.0.number
    }
}

impl Eq for Code {}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.number, self.0.slug)
    }
}

macro_rules! codes {
    ($($name:ident $number:literal $slug:literal $severity:ident $summary:literal;)*) => {
        $(
            #[doc = $summary]
            pub const $name: Code = Code(&Entry {
                number: $number, slug: $slug, severity: Severity::$severity, summary: $summary,
            });
        )*

        /// Every code, by number.
        pub const ALL: &[Code] = &[$($name,)*];
    };
}

codes! {
    UNREADABLE_FILE "HK101" "unreadable-file" Error "The file exists and cannot be read.";
    INVALID_JSON "HK102" "invalid-json" Error "The file is no JSON; none of its hooks run.";
    NOT_UTF8 "HK103" "not-utf8" Error "The file is not UTF-8.";
    FILE_TOO_LARGE "HK104" "file-too-large" Error "The file is larger than is read.";
    TOO_DEEP "HK105" "too-deep" Error "The file is nested deeper than is read.";
    BOM "HK106" "bom" Warning "The file begins with a byte order mark.";
    NOT_STRICT_JSON "HK107" "not-strict-json" Warning "Comments or trailing commas in a file whose agent reads strict JSON.";
    DUPLICATE_KEY "HK108" "duplicate-key" Warning "An object has the same member twice; the last one counts.";
    INVALID_YAML "HK109" "invalid-yaml" Error "The frontmatter is no YAML; of its members, those that can be read alone count.";
    FRONTMATTER_NOT_CLOSED "HK110" "frontmatter-not-closed" Error "A frontmatter begins and never ends; nothing of it is read.";

    NOT_AN_OBJECT "HK201" "not-an-object" Error "The file's top level is no object.";
    HOOKS_NOT_AN_OBJECT "HK202" "hooks-not-an-object" Error "The member `hooks` is no object.";
    HOOKS_NOT_A_LIST "HK203" "hooks-not-a-list" Error "The groups of an event, or the handlers of a group, are no list.";
    ENTRY_NOT_AN_OBJECT "HK204" "entry-not-an-object" Error "A group or a handler is no object.";
    UNKNOWN_EVENT "HK205" "unknown-event" Warning "An event that the dialect does not know; its hooks never run.";
    EVENT_OF_ANOTHER_DIALECT "HK206" "event-of-another-dialect" Warning "An event name of another agent.";
    GROUP_WITHOUT_HOOKS "HK207" "group-without-hooks" Warning "A group without handlers does nothing.";
    FLAT_ENTRY "HK208" "flat-entry" Warning "A handler stands where a group is expected.";
    NAKED_EVENTS "HK209" "naked-events" Warning "Events stand at the top level instead of under `hooks`.";
    HOOKS_FILE_LOADED_TWICE "HK210" "hooks-file-loaded-twice" Warning "A file that is read by convention is named once more.";
    NONE_LOADED "HK211" "none-loaded" Error "The file has hooks, and none could be loaded.";
    UNKNOWN_FIELD "HK212" "unknown-field" Warning "A member that no rule reads.";
    MISSING_VERSION "HK213" "missing-version" Warning "The agent wants a `version` in this file.";
    DUPLICATE_ID "HK214" "duplicate-id" Error "Two hooks have the same explicit id.";
    UNKNOWN_DIALECT "HK215" "unknown-dialect" Error "The member `dialect` names no dialect.";
    WRONG_TYPE "HK216" "wrong-type" Warning "A member has a type that its rule does not take; its default is used.";
    SETTING_NOT_ALLOWED_HERE "HK217" "setting-not-allowed-here" Warning "A setting that this layer may not make.";
    DISABLED_UNKNOWN "HK218" "disabled-unknown" Warning "A list of what is switched off names something that is not there.";
    STATE_UNREADABLE "HK219" "state-unreadable" Error "A file that says what is switched off cannot be read; nothing is.";
    SKILL_FIELD_MISSING "HK220" "skill-field-missing" Warning "A skill or subagent lacks a member that its agent wants.";
    HOOKS_OF_PLUGIN_AGENT "HK221" "hooks-of-plugin-agent" Warning "Hooks of a subagent that comes with a plugin; its agent ignores them.";
    UNSUPPORTED_EVENT "HK222" "unsupported-event" Warning "An event that the agent knows and does not fire; its hooks never run.";

    MATCHER_NOT_A_STRING "HK301" "matcher-not-a-string" Error "A matcher is no string; its group is left out.";
    MATCHER_UNREADABLE "HK302" "matcher-unreadable" Error "A matcher that cannot be compiled.";
    MATCHER_IGNORED "HK303" "matcher-ignored-on-event" Info "The event has nothing a matcher could see.";
    MCP_SERVER_PREFIX "HK304" "mcp-server-prefix" Warning "A bare MCP server name matches no tool of that server.";
    MATCHER_LITERAL_FALLBACK "HK305" "matcher-literal-fallback" Warning "A matcher that is no regular expression is compared literally.";
    MATCHER_DIALECT_TRAP "HK306" "matcher-dialect-trap" Warning "A pattern that means something else in its agent than it seems to.";
    UNKNOWN_TOOL "HK307" "unknown-tool" Warning "A matcher that names no tool of the agent that is known.";
    MATCHER_NEVER_FITS "HK308" "matcher-never-fits" Warning "The event has an empty value for matchers, which this one does not fit.";
    MATCHER_NAME_FALLBACK "HK309" "matcher-name-fallback" Warning "A matcher that cannot be read is taken for the name of a tool; an error where its hooks guard something.";
    MATCHER_WITHOUT_TOOL "HK310" "matcher-without-tool" Error "A matcher that looks at the input of a tool, on an event without one.";

    UNKNOWN_HANDLER_TYPE "HK401" "unknown-handler-type" Error "A handler type that does not exist.";
    MISSING_FIELD "HK402" "missing-field" Error "A handler lacks a member it cannot work without.";
    TIMEOUT_NOT_A_NUMBER "HK403" "timeout-not-a-number" Error "A timeout is no number.";
    TIMEOUT_OUT_OF_RANGE "HK404" "timeout-out-of-range" Warning "A timeout that is zero, negative or beyond the limit.";
    TIMEOUT_LOOKS_LIKE_MILLISECONDS "HK405" "timeout-looks-like-milliseconds" Warning "A timeout in seconds that looks like milliseconds.";
    HANDLER_TYPE_NOT_SUPPORTED "HK406" "handler-type-not-supported" Warning "The event does not take this type of handler.";
    ONCE_IGNORED "HK407" "once-ignored" Info "`once` counts in skills only.";
    USER_CONFIG_IN_SHELL_FORM "HK408" "user-config-in-shell-form" Error "`${user_config.…}` is refused in a shell line.";
    EXEC_COMMAND_HAS_WHITESPACE "HK409" "exec-command-has-whitespace" Warning "A program name with blanks beside `args`.";
    CONDITION_WITHOUT_TOOL "HK410" "condition-without-tool" Warning "An `if` rule on an event without a tool never holds.";
    CONDITION_UNREADABLE "HK411" "condition-unreadable" Error "An `if` rule that cannot be read.";
    CONDITION_UNKNOWN_TOOL "HK412" "condition-unknown-tool" Warning "An `if` rule for a tool that nobody knows.";
    CONDITION_TRAP "HK413" "condition-trap" Warning "An `if` rule that means something else than it seems to.";
    URL_NOT_ALLOWED "HK421" "url-not-allowed" Warning "The settings do not allow hooks to be sent to this URL.";
    OPTION_WITHOUT_VALUE "HK422" "option-without-value" Error "A placeholder for an option of the plugin that nobody gave a value.";
    INVALID_URL "HK423" "invalid-url" Error "The URL of a handler is none that can be asked.";
    INVALID_METHOD "HK424" "invalid-method" Error "The method of an http handler is none.";
    INVALID_HEADER "HK425" "invalid-header" Error "A header that cannot be sent.";
    BODY_WITHOUT_EFFECT "HK426" "body-without-effect" Warning "A body that is never sent.";
    VARIABLE_NOT_ALLOWED "HK427" "variable-not-allowed" Warning "A template names a variable that `allowedEnvVars` leaves out; it will be empty.";
    TEMPLATE_NOT_FILLED "HK428" "template-not-filled" Warning "A placeholder stands where none is filled in.";
    CREDENTIALS_IN_URL "HK429" "credentials-in-url" Warning "A URL with a user name or a password in it.";
    MCP_SERVER_UNUSABLE "HK431" "mcp-server-unusable" Error "An MCP server is written down in a way that cannot be used.";
    MCP_VARIABLE_UNSET "HK432" "mcp-variable-unset" Error "An MCP server names a variable without a value or a default.";
    MCP_SERVER_SHADOWED "HK433" "mcp-server-shadowed" Warning "A file of more authority has an MCP server of the same name.";
    MCP_SERVER_UNKNOWN "HK434" "mcp-server-unknown" Warning "A hook calls an MCP server that nobody wrote down.";
    REWAKE_NOT_ON_EVENT "HK441" "rewake-not-on-event" Warning "A hook of this event cannot be woken again; its `asyncRewake` is left out.";
    REWAKE_INVALID "HK442" "rewake-invalid" Warning "An `asyncRewake` that cannot be used; the hook runs without it.";
    MODEL_UNUSABLE "HK451" "model-unusable" Error "The settings name a model in a way that cannot be used; prompt hooks do not run.";
    MODEL_KEY_IN_THE_CLEAR "HK452" "model-key-in-the-clear" Warning "The key of a model is sent over plain http to another machine.";
    NOBODY_RUNS "HK453" "nobody-runs" Warning "Nothing here runs handlers of this type; with `onFailure: \"block\"` the hook fails and blocks.";

    UNQUOTED_PLACEHOLDER "HK501" "unquoted-placeholder" Warning "An unquoted placeholder breaks in a path with blanks.";
    PLACEHOLDER_IN_SINGLE_QUOTES "HK502" "placeholder-in-single-quotes" Warning "A placeholder in single quotes stays as it is.";
    UNKNOWN_PLACEHOLDER "HK503" "unknown-placeholder" Warning "A placeholder that nobody sets.";
    MISSING_SCRIPT "HK504" "missing-script" Error "The script does not exist.";
    MISSING_PROGRAM "HK505" "missing-program" Warning "The program is not on the PATH.";
    SCRIPT_NOT_EXECUTABLE "HK506" "script-not-executable" Error "The script has no run bit.";
    MISSING_SHEBANG "HK507" "missing-shebang" Warning "The script does not say what runs it.";
    CRLF_SCRIPT "HK508" "crlf-script" Error "The script has CRLF line ends; its interpreter cannot be found.";
    TILDE_NOT_EXPANDED "HK509" "tilde-not-expanded" Warning "A tilde where no shell expands it.";
    DANGEROUS_ENV "HK510" "dangerous-env" Warning "The env file sets a variable that changes what programs run.";
    ENV_LINE_SKIPPED "HK511" "env-line-skipped" Warning "A line of the env file that sets nothing.";

    UNREADABLE_PAYLOAD "HK601" "unreadable-payload" Error "The payload could not be read.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_slugs_are_unique_and_sorted() {
        for pair in ALL.windows(2) {
            assert!(pair[0].number() < pair[1].number(), "{:?} before {:?}", pair[0], pair[1]);
        }
        let mut slugs: Vec<_> = ALL.iter().map(|code| code.slug()).collect();
        slugs.sort_unstable();
        slugs.dedup();
        assert_eq!(slugs.len(), ALL.len());
    }
}
