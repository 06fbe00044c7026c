/** Timeout for connecting to a container runtime. A running one responds immediately. */
export const RUNTIME_CONNECT_TIMEOUT_MS = 2000;

/** How long shell completion waits for a node to respond. */
export const COMPLETION_TIMEOUT_MS = 100;

/** Maximum time from a node's start until its API responds. */
export const NODE_START_TIMEOUT_MS = 30_000;
/** Maximum time from a node's start until its Node object is ready. */
export const NODE_READY_TIMEOUT_MS = 60_000;

/** Maximum time until an upgraded node responds: it first recovers the earlier version's pods. */
export const NODE_UPGRADE_TIMEOUT_MS = 120_000;

/** Maximum time for a new program to report its version. */
export const PROGRAM_TRIAL_TIMEOUT_MS = 30_000;

/** Maximum time for a node to stop. */
export const NODE_STOP_TIMEOUT_MS = 60_000;

/** A Ctrl-C this soon after the second one does not count as a third, because impatient users press it several times. */
export const LAST_INTERRUPT_MS = 1000;

/** Maximum time for a metrics client to send its request, leave the response unread, or keep an idle connection open. */
export const SCRAPER_TIMEOUT_MS = 10_000;

/** Scrapes within this time get the same cached response, as building one blocks the event loop for up to 3 ms. */
export const METRICS_KEPT_MS = 100;

/** Maximum time to remove a pod after its grace period: killing, unmounting, network teardown. */
export const REMOVAL_SPARE_MS = 60_000;

/** Timeout for fetching a manifest from a URL, including redirects. */
export const MANIFEST_FETCH_TIMEOUT_MS = 30_000;
/** Limits on the manifests given to a command: the number of files and directories, and the total size of their text. */
export const MAX_MANIFEST_SOURCES = 5000;
export const MAX_MANIFEST_TEXT_BYTES = 64 << 20;
/** How often a daemon checks whether a garbage collection of its heap is worthwhile. */
export const HEAP_LOOK_MS = 5000;
/** A daemon is at rest after this many consecutive quiet checks: 20 seconds, which is longer than an unpack worker stays idle. */
export const LOOKS_UNTIL_REST = 4;
/** A daemon at rest collects its heap at most once in this many checks, every two minutes, which takes less than 0.1 % of a CPU core. */
export const LOOKS_APART_AT_REST = 24;
/** How long a command that is about to exit waits for a response from the node. */
export const NODE_ANSWER_TIMEOUT_MS = 10_000;

/** How long `run` waits for the remaining logs of exited containers. */
export const LAST_LOGS_TIMEOUT_MS = 5000;
/** With prefixes, longer log lines are split, because a container may write an endless line. */
export const MAX_LOG_LINE_BYTES = 64 << 10;
/** Without `--all`, `events` shows only events from the last hour, and only the MAX_SHOWN_EVENTS most recent ones. */
export const SHOWN_EVENTS_AGE_MS = 3_600_000;
export const MAX_SHOWN_EVENTS = 100;

/** Default timeout of `wait`, as in kubectl. LONGEST_WAIT_MS, one week, is used where kubectl's `--timeout` means no limit. */
export const WAIT_TIMEOUT_MS = 30_000;
export const LONGEST_WAIT_MS = 7 * 24 * 3_600_000;

/** Refresh interval of `top -w`. */
export const TOP_PERIOD_MS = 2000;
/** Refresh interval of `trace -w`. */
export const TRACE_PERIOD_MS = 500;

/** How long --once and --detach wait by default for pods that fail to start. They need a limit because they are often used unattended. */
export const START_PATIENCE_MS = 120_000;

/**
 * How long pods without probes must have been running before `run` reports them as ready. DETACHED_STEADY_MS applies with --detach; it is
 * shorter because scripts wait for the command.
 */
export const STEADY_MS = 200;
export const DETACHED_STEADY_MS = 15;

/** How often `join` checks whether the cluster has signed cluster-info with a new token. */
export const DISCOVERY_RETRY_MS = 2000;
/** Timeout for diagnostic requests to an API server. */
export const CLUSTER_PROBE_TIMEOUT_MS = 5000;
/** `doctor` reports larger clock skews. Certificates are backdated by five minutes. */
export const NOTED_CLOCK_SKEW_MS = 10_000;
/** `doctor` reports certificates that expire sooner than this, because they should already have been renewed. */
export const NOTED_CERTIFICATE_MS = 24 * 3_600_000;
/** Maximum size of a patch file; no object is larger. */
export const MAX_PATCH_BYTES = 3 << 20;
