/** A runtime that is there answers at once; nothing waits for one that is not. */
export const RUNTIME_CONNECT_TIMEOUT_MS = 2000;

/** A shell that completes a word waits no longer for a node. */
export const COMPLETION_TIMEOUT_MS = 100;

/** How long a node may take until its API answers. */
export const NODE_START_TIMEOUT_MS = 30_000;

/** How long it may take to end. */
export const NODE_STOP_TIMEOUT_MS = 60_000;

/** Ctrl-C so long after the second one is the third: people press it more than once, and only then wait. */
export const LAST_INTERRUPT_MS = 1000;

/** How long a client may take for its request, or leave its answer unread, or its connection unused. */
export const SCRAPER_TIMEOUT_MS = 10_000;

/** Scrapes within this time get the same answer: making one holds the thread that everything runs on for up to 3 ms. */
export const METRICS_KEPT_MS = 100;

/** How much longer than its grace period a pod may take to go: killing, unmounting, networks. */
export const REMOVAL_SPARE_MS = 60_000;

/** What a URL of a manifest may take in all, and how often it may lead elsewhere: as many as in Go's client, which is kubectl's. */
export const MANIFEST_FETCH_TIMEOUT_MS = 30_000;
/** Manifests of one command: files and directories, and all of their text. */
export const MAX_MANIFEST_SOURCES = 5000;
export const MAX_MANIFEST_TEXT_BYTES = 64 << 20;
/** How often a daemon looks whether its heap is worth collecting. */
export const HEAP_LOOK_MS = 5000;
/** How long a node may take to answer what a command asks while it is ending. */
export const NODE_ANSWER_TIMEOUT_MS = 10_000;

/** How long `run` waits for the rest of logs whose containers have ended. */
export const LAST_LOGS_TIMEOUT_MS = 5000;
/** A longer line of a log is shown as several where lines are told apart: a container need not end it. */
export const MAX_LOG_LINE_BYTES = 64 << 10;
/** `events` shows those of the last hour, and of these the newest, unless it is asked for all. */
export const SHOWN_EVENTS_AGE_MS = 3_600_000;
export const MAX_SHOWN_EVENTS = 100;

/** kubectl's default of `wait --timeout`, and what it makes of a negative one. */
export const WAIT_TIMEOUT_MS = 30_000;
export const LONGEST_WAIT_MS = 7 * 24 * 3_600_000;

/** How often `top -w` looks again. */
export const TOP_PERIOD_MS = 2000;

/** How long --once and --detach wait, without --timeout, for pods whose start fails: often nobody watches them. */
export const START_PATIENCE_MS = 120_000;

/** How long pods that no probe looks at must run until `run` calls them ready; with --detach scripts wait for it. */
export const STEADY_MS = 200;
export const DETACHED_STEADY_MS = 15;

/** How often a cluster is asked again whether it has signed its information with a token that is new. */
export const DISCOVERY_RETRY_MS = 2000;
/** How long an API server may take that is looked at. */
export const CLUSTER_PROBE_TIMEOUT_MS = 5000;
/** Clocks that are further apart are told: certificates are signed for five minutes before. */
export const NOTED_CLOCK_SKEW_MS = 10_000;
/** A certificate that runs out sooner should have been renewed. */
export const NOTED_CERTIFICATE_MS = 24 * 3_600_000;
/** What a file of `patch` may have: no object has more. */
export const MAX_PATCH_BYTES = 3 << 20;
