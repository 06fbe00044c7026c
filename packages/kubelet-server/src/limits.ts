/** The kubelet's HTTP API: timers and bounds that are not options, with their sources. */

/** Connections that the kernel holds for a port until they are accepted: its own bound (net.core.somaxconn). */
export const LISTEN_BACKLOG = 4096;
/** The URL of `exec` carries the command: enough for three long arguments, percent-encoded. */
export const MAX_REQUEST_HEAD_BYTES = 256 << 10;
/** Pipelined requests of a connection without a finished response, and the bytes of the heads of those which have not started. */
export const MAX_WAITING_REQUESTS = 100;
export const MAX_WAITING_HEAD_BYTES = 512 << 10;
/** How long an upgrade waits for the responses to earlier requests of its connection: well-behaved clients read them first. */
export const UPGRADE_PATIENCE_MS = 1000;
/** A client has this long to send the head of a request, and the whole request; no route needs a body. */
export const REQUEST_HEAD_TIMEOUT_MS = 10_000;
/**
 * Rates of new connections from callers without a recent authentication: for each caller; for all callers of a remote network; and for
 * all local or all remote callers together. A handshake costs milliseconds of CPU time, and a connection about 50 KiB until it is closed.
 */
export const STRANGER_RATE = { perSecond: 20, burst: 50 };
export const NETWORK_STRANGERS_RATE = { perSecond: 30, burst: 60 };
export const ALL_STRANGERS_RATE = { perSecond: 50, burst: 100 };
/** Rate that is reserved for the first connections of callers; a second one for local callers. */
export const NEWCOMERS_RATE = { perSecond: 20, burst: 50 };
/** Number of tracked authenticated callers (and of strangers), and how long an authenticated caller has no limit after a request. */
export const MAX_CALLERS = 1000;
export const KNOWN_CALLER_MS = 3_600_000;
/** How long an authenticated caller has a separate limit, so that strangers cannot exhaust it. */
export const FORMER_CALLER_MS = 30 * 24 * 3_600_000;
/** The age at which a caller's saved time is updated, the minimum pause between two writes, and the largest file that is read. */
export const SAVED_CALLER_MS = 600_000;
export const SAVE_PAUSE_MS = 60_000;
export const MAX_CALLERS_FILE_BYTES = 256 << 10;
/** Idle time between two requests on one connection: as upstream. */
export const KEEP_ALIVE_TIMEOUT_MS = 90_000;
/** Idle time after which the kernel probes a client's connection: as upstream (Go's net.ListenConfig). */
export const KEEP_ALIVE_PROBE_MS = 15_000;
/** Connections of one user before its idle ones are closed: far more than the idle connections that the API server keeps (25). */
export const MAX_CALLER_CONNECTIONS = 250;
/** A client that does not read its response is disconnected after this long. */
export const STALLED_CLIENT_MS = 60_000;
/** Request bodies that are not used are read and discarded up to this size. */
export const MAX_IGNORED_BODY_BYTES = 64 << 10;
/** The JSON of a pod is cached until the pod changes if it is no longer than this: usual pods have about 3 KiB. */
export const MAX_CACHED_POD_LENGTH = 32 << 10;
/** How long a command of `/run` may take: upstream's limit for a response. */
export const MAX_RUN_MS = 4 * 3_600_000;
/** Number of bearer tokens in a token file, and its size. */
export const MAX_TOKENS = 10_000;
export const MAX_TOKEN_FILE_BYTES = 4 << 20;
/** Cached reviews: of tokens, and of access (upstream's 8192). */
export const MAX_REVIEWED_TOKENS = 4096;
export const MAX_ACCESS_REVIEWS = 8192;
/** Reviews of one kind in flight. More are refused, so that unauthenticated callers cannot overload the API server. */
export const MAX_REVIEWS_AT_ONCE = 100;
/** A service account's token has about 1.2 KiB; the user in the review's status is shorter. */
export const MAX_REVIEWED_TOKEN_LENGTH = 64 << 10;
export const MAX_USER_LENGTH = 64 << 10;
/** How long a review may take including retries, and the backoff (upstream's DefaultAuthWebhookRetryBackoff). */
export const REVIEW_TIMEOUT_MS = 10_000;
export const REVIEW_RETRIES = { most: 5, initialMs: 500, factor: 1.5 };
/** The validity of the self-signed certificate: as upstream. */
export const SELF_SIGNED_CERTIFICATE_MS = 365 * 24 * 3_600_000;
/** How often the files of certificates and CAs are checked by stat, and how often they are read even if stat shows no change. */
export const TLS_FILES_PERIOD_MS = 1000;
export const TLS_REREAD_MS = 60_000;
/** Duration of a profile: the default (Go's), and the maximum: the samples stay in memory. */
export const DEFAULT_PROFILE_SECONDS = 30;
export const MAX_PROFILE_SECONDS = 120;
/** Entries in the listing of a directory below `/logs/`. */
export const MAX_LOG_DIRECTORY_ENTRIES = 10_000;
