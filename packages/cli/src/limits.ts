/** Timeout for connecting to a runtime. A running one answers at once. */
export const RUNTIME_CONNECT_TIMEOUT_MS = 2000;

/** The longest time that shell completion waits for a node. */
export const COMPLETION_TIMEOUT_MS = 100;

/** The longest time from the start of a node until its API answers. */
export const NODE_START_TIMEOUT_MS = 30_000;

/** The longest time until an upgraded node answers: it recovers the pods of the earlier version. */
export const NODE_UPGRADE_TIMEOUT_MS = 120_000;

/** The longest time in which a new program must report its version. */
export const PROGRAM_TRIAL_TIMEOUT_MS = 30_000;

/** The longest time that a node may take to stop. */
export const NODE_STOP_TIMEOUT_MS = 60_000;

/** A Ctrl-C within this time after the second one does not count as the third: impatient users press it several times. */
export const LAST_INTERRUPT_MS = 1000;

/** How long a metrics client may take to send its request, leave the response unread, or keep an idle connection. */
export const SCRAPER_TIMEOUT_MS = 10_000;

/** Scrapes within this time get the same cached response: building one blocks the event loop for up to 3 ms. */
export const METRICS_KEPT_MS = 100;

/** The longest time that the removal of a pod may take after its grace period: killing, unmounting, network teardown. */
export const REMOVAL_SPARE_MS = 60_000;

/** The longest time for fetching a manifest from a URL, with its redirects. */
export const MANIFEST_FETCH_TIMEOUT_MS = 30_000;
/** Limits on the manifests of one command: the number of files and directories, and the size of all text. */
export const MAX_MANIFEST_SOURCES = 5000;
export const MAX_MANIFEST_TEXT_BYTES = 64 << 20;
/** How often a daemon checks whether a garbage collection of its heap is worthwhile. */
export const HEAP_LOOK_MS = 5000;
/** The longest time that a node may take to answer a command that is itself exiting. */
export const NODE_ANSWER_TIMEOUT_MS = 10_000;

/** The longest time that `run` waits for the rest of the logs of exited containers. */
export const LAST_LOGS_TIMEOUT_MS = 5000;
/** Longer log lines are split if lines are prefixed: a container may write an endless line. */
export const MAX_LOG_LINE_BYTES = 64 << 10;
/** Without `--all`, `events` shows the newest events of the last hour. */
export const SHOWN_EVENTS_AGE_MS = 3_600_000;
export const MAX_SHOWN_EVENTS = 100;

/** The default of `kubectl wait --timeout`, and the timeout that a negative value means. */
export const WAIT_TIMEOUT_MS = 30_000;
export const LONGEST_WAIT_MS = 7 * 24 * 3_600_000;

/** The refresh interval of `top -w`. */
export const TOP_PERIOD_MS = 2000;

/** How long --once and --detach wait by default for pods whose start fails, since they often run unattended. */
export const START_PATIENCE_MS = 120_000;

/** How long pods without probes must run until `run` reports them as ready. It is shorter with --detach, which scripts wait for. */
export const STEADY_MS = 200;
export const DETACHED_STEADY_MS = 15;

/** How often `join` checks whether the cluster has signed cluster-info with a new token. */
export const DISCOVERY_RETRY_MS = 2000;
/** Timeout for a diagnostic call of an API server. */
export const CLUSTER_PROBE_TIMEOUT_MS = 5000;
/** `doctor` reports a larger clock skew. Certificates become valid five minutes before they are signed. */
export const NOTED_CLOCK_SKEW_MS = 10_000;
/** `doctor` reports a certificate that expires sooner, since it should have been renewed already. */
export const NOTED_CERTIFICATE_MS = 24 * 3_600_000;
/** Maximum size of a patch file; no object is larger. */
export const MAX_PATCH_BYTES = 3 << 20;
