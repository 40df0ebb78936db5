//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// One hook engine for every coding agent.
#[derive(Debug, Parser)]
#[command(
    name = "hook",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_help = "Start with `hook init`, then try
  hook run PreToolUse --tool Bash --input '{\"command\": \"rm -rf /\"}'

Exit codes: 0 fine, 1 findings, 3 blocked, 4 ask, 5 defer (run), 64 usage, 65 bad data,
70 our fault, 74 I/O.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Start a project: .hooks/hooks.json and one example guard
    Init(InitArgs),
    /// Fire an event by hand and show which hooks ran, what each said, and what was decided
    Run(RunArgs),
    /// For agents: a payload on standard input, the agent's own reply on standard output
    Dispatch(DispatchArgs),
    /// Say of every hook whether it runs on an event, or the first reason why not
    Explain(ExplainArgs),
    /// List every hook in dispatch order, with file and line
    List(ListArgs),
    /// Switch a hook or a plugin on again
    Enable(SwitchArgs),
    /// Switch a hook or a plugin off, without touching its file
    Disable(SwitchArgs),
    /// Check hook files: what is wrong, where, and what to do
    Check(CheckArgs),
    /// Hooks that wait to be woken again: see them, wake them, cancel them
    Rewake(RewakeArgs),
    /// Keep engines warm: faster dispatch, hooks that are woken on time, files that are watched
    Serve(ServeArgs),
    /// Print a field of the JSON on standard input, so that a hook script needs no other tool
    Get(GetArgs),
    /// Print a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The project's directory
    #[arg(default_value = ".")]
    pub(crate) directory: PathBuf,
}

/// Which hook files are read.
#[derive(Debug, Args, Default, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub(crate) struct SourceArgs {
    /// Read this agent's own hook files, too (repeatable)
    #[arg(long = "from", value_name = "AGENT")]
    pub(crate) from: Vec<String>,
    /// Read this plugin of the agents given with --from, too (repeatable)
    #[arg(long = "plugin-root", value_name = "DIR", requires = "from")]
    pub(crate) plugin_root: Vec<PathBuf>,
    /// One more settings file of the agents given with --from, above their local ones: JSON, or a file that holds it
    #[arg(long, value_name = "JSON|FILE", requires = "from")]
    pub(crate) settings: Option<String>,
    /// Settings of the agent's hook module, as its host mounts it: a JSON object, or a file that holds one
    #[arg(long = "module-config", value_name = "JSON|FILE")]
    pub(crate) module_config: Option<String>,
    /// Put the hooks of this skill in force, as if it were loaded: its directory, or its SKILL.md (repeatable)
    #[arg(long = "skill", value_name = "DIR")]
    pub(crate) skill: Vec<PathBuf>,
}

/// An event made by hand.
#[derive(Debug, Args)]
pub(crate) struct EventArgs {
    /// The event, PreToolUse for instance
    #[arg(required_unless_present = "payload")]
    pub(crate) event: Option<String>,
    /// The tool's name
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// The tool's input, a JSON object; without --tool, members of the event
    #[arg(long, value_name = "JSON")]
    pub(crate) input: Option<String>,
    /// Other members of the event, a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) data: Option<String>,
    /// An agent's raw payload instead; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tool", "input", "data"])]
    pub(crate) payload: Option<PathBuf>,
    /// The agent that fires; recognised by its payload where it is not given
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// The session; state is kept between runs of the same one
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  hook run PreToolUse --tool Bash --input '{\"command\": \"rm -rf /\"}'
  hook run UserPromptSubmit --data '{\"prompt\": \"hello\"}'
  hook run PreToolUse --tool Bash --input '{\"command\": \"ls\"}' --skill skills/deploy
  hook run --payload event.json --agent AGENT --from AGENT")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) event: EventArgs,
    /// Print everything as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is run unless --run is given. With --session, what the session remembers counts:
loaded skills, hooks that run once.

Examples:
  hook explain PreToolUse --tool Bash --input '{\"command\": \"git push\"}'
  hook explain --payload event.json --agent AGENT --from AGENT
  hook explain Stop --json"
)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) event: EventArgs,
    /// Run the hooks, too, and say what each one answered
    #[arg(long)]
    pub(crate) run: bool,
    /// Print everything as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The reply, on standard output and in the exit code, is in the agent's own form, also where this
program itself fails: on an event that can hold something back a failure denies where a hook is
configured, and says how to mend it.

Example:
  echo '{\"event\": \"PreToolUse\", \"data\": {\"tool_name\": \"Bash\", \"tool_input\": {\"command\": \"ls\"}}}' |
    hook dispatch"
)]
pub(crate) struct DispatchArgs {
    /// The agent that fires; recognised by its payload where it is not given
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// The event, for agents whose payload does not name it
    #[arg(long)]
    pub(crate) event: Option<String>,
    /// Do the work in this process, even where a server runs (`hook serve`)
    #[arg(long)]
    pub(crate) cold: bool,
    /// Run only this background hook, and give no reply (repeatable); how this command starts itself once more
    #[arg(long, value_name = "ID", hide = true)]
    pub(crate) background: Vec<String>,
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SwitchKind {
    Hook,
    Plugin,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A hook goes by its id into the list `disabled` in the settings of your user file, with --local
in those of .hooks/hooks.local.json; a plugin by its name into the state file of its agent.
Nothing else in these files changes, and `enable` undoes `disable`. Inside an agent both are
refused.

Examples:
  hook disable guard
  hook disable --local PreToolUse-3f2a90c1d4e5
  hook enable guard"
)]
pub(crate) struct SwitchArgs {
    /// The id of a hook, as `hook list` shows it, or the name of a plugin
    #[arg(value_name = "ID|NAME")]
    pub(crate) name: String,
    /// For this project only: the local file, a plugin of the project
    #[arg(long, conflicts_with = "user")]
    pub(crate) local: bool,
    /// For all projects: the user file (as without it), a plugin of the user
    #[arg(long)]
    pub(crate) user: bool,
    /// What the name means, where a hook and a plugin have it
    #[arg(long)]
    pub(crate) kind: Option<SwitchKind>,
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "`hook dispatch` uses the server of its user where one runs, and decides the same without it.
Hook files are looked at before every event. The server alone wakes hooks at their time, takes
events from outside, and tells hooks of ConfigReload.

Over HTTP, on this machine only, with `Authorization: Bearer` and the token:
  POST /v1/dispatch/AGENT    an agent's payload; {decision, exit_code, stdout, stderr}
  POST /v1/rewake/resolve    {type, key, payload}; {matched}
  GET  /v1/rewake            what waits; ?ended=true: what became of the others
  GET  /metrics              figures for Prometheus
Without the token:
  POST /rewake/events        {eventType, eventKey, payload}; X-Rewake-Signature is the HMAC-SHA256
                             of the body, X-Rewake-Idempotency-Key counts once in 24 hours
  GET  /healthz

Examples:
  hook serve --detach
  hook serve --http 127.0.0.1:7070 --secret-file ~/.rewake-secret
  hook serve --status
  hook serve --stop"
)]
pub(crate) struct ServeArgs {
    /// Go on in the background, and return when the server is ready
    #[arg(long, conflicts_with_all = ["stop", "status"])]
    pub(crate) detach: bool,
    /// End the server that runs, when what it does is done
    #[arg(long, conflicts_with = "status")]
    pub(crate) stop: bool,
    /// Show what the server that runs does
    #[arg(long)]
    pub(crate) status: bool,
    /// Print JSON
    #[arg(long, requires = "status")]
    pub(crate) json: bool,
    /// Listen on this address of this machine, too; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", value_parser = crate::serve::loopback)]
    pub(crate) http: Option<std::net::SocketAddr>,
    /// Where the secret stands that webhook deliveries are signed with; else HOOK_REWAKE_SECRET
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
    /// The process that serves; how this command starts itself
    #[arg(long, hide = true)]
    pub(crate) worker: bool,
    /// Without a terminal; how this command starts itself
    #[arg(long, hide = true)]
    pub(crate) detached: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  hook check
  hook check .hooks/hooks.json
  hook check skills/deploy/SKILL.md
  hook check --json | hook get '.[0].message'")]
pub(crate) struct CheckArgs {
    /// Hook files, SKILL.md files, or directories that hold them; without any, all that the project would read
    pub(crate) paths: Vec<PathBuf>,
    /// The dialect of the given files, where their place does not tell
    #[arg(long)]
    pub(crate) dialect: Option<String>,
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  command=$(\"$HOOK\" get .tool_input.command)
  path=$(\"$HOOK\" get .tool_input.file_path .tool_input.notebook_path --default '')
  \"$HOOK\" get '.items[0].\"odd key\"'

Strings are printed as they are, everything else as the JSON that stands there. A field that is
null or missing prints nothing and exits with 1.")]
pub(crate) struct GetArgs {
    /// A path: `.tool_input.command`, `.list[0]`, `.list[-1]`, `."odd key"`; of several, the first that is there
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<String>,
    /// Printed where the field is not there; without it nothing is, and the exit code is 1
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) default: Option<String>,
    /// Print strings as JSON, too
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A hook with an `asyncRewake` is called once more, later, for the same event: after a time, at the
times of a cron expression, or when somebody resolves an event. What is due is woken by the next
`hook dispatch` after it has replied, or by `hook rewake tick`; what a woken hook says comes with a
later event of its session.

Examples:
  hook rewake list
  hook rewake resolve approval T-42 --payload '{\"status\": \"granted\"}'
  hook rewake cancel --hook guard"
)]
pub(crate) struct RewakeArgs {
    #[command(subcommand)]
    pub(crate) verb: RewakeVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RewakeVerb {
    /// What waits, the earliest first
    List {
        /// What became of the others instead, the latest first
        #[arg(long)]
        ended: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// One that waits, with its payload and event, and what became of it and its chain
    Show {
        /// Its id, as `hook rewake list` shows it
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Wake every hook that waits for this event
    Resolve {
        /// The type of the event
        #[arg(value_name = "TYPE")]
        kind: String,
        /// Its key
        key: String,
        /// What the hooks are told: a JSON object of texts
        #[arg(long, value_name = "JSON")]
        payload: Option<String>,
    },
    /// Let it wait no longer
    Cancel {
        /// Its id
        #[arg(required_unless_present = "hook", conflicts_with = "hook")]
        id: Option<String>,
        /// All that this hook waits for
        #[arg(long, value_name = "ID")]
        hook: Option<String>,
    },
    /// Wake every hook whose time has come, in all projects
    Tick,
}
