/** Timeouts and limits of the kubelet's HTTP API that are not configurable, with references. */

/** Maximum number of connections waiting to be accepted on a port. The kernel has the same limit (net.core.somaxconn). */
export const LISTEN_BACKLOG = 4096;
/**
 * Maximum size of a request's headers, including the request line. The URL of `exec` contains the command; this is enough for three long
 * percent-encoded arguments.
 */
export const MAX_REQUEST_HEAD_BYTES = 256 << 10;
/**
 * Maximum number of unfinished pipelined requests on a connection. `MAX_WAITING_HEAD_BYTES`: maximum total header size of those that have
 * not been started.
 */
export const MAX_WAITING_REQUESTS = 100;
export const MAX_WAITING_HEAD_BYTES = 512 << 10;
/** How long an upgrade waits for the responses to earlier requests on the same connection. Well-behaved clients read them first. */
export const UPGRADE_PATIENCE_MS = 1000;
/** How long a client may take to send a request's headers, and the whole request, because no route needs a body. */
export const REQUEST_HEAD_TIMEOUT_MS = 10_000;
/**
 * Rate limits for new connections from strangers (callers without a recent authentication): `STRANGER_RATE` for each caller,
 * `NETWORK_STRANGERS_RATE` for all callers in a remote network, and `ALL_STRANGERS_RATE` for all local callers and for all remote callers.
 * A handshake costs milliseconds of CPU time, and a connection uses about 50 KiB of memory until it is closed.
 */
export const STRANGER_RATE = { perSecond: 20, burst: 50 };
export const NETWORK_STRANGERS_RATE = { perSecond: 30, burst: 60 };
export const ALL_STRANGERS_RATE = { perSecond: 50, burst: 100 };
/** Additional rate limit for the first connections of new callers. All local callers share one, and all remote callers share another. */
export const NEWCOMERS_RATE = { perSecond: 20, burst: 50 };
/**
 * Maximum number of authenticated callers to remember, and also of strangers. `KNOWN_CALLER_MS`: how long a caller is exempt from rate
 * limits after an authenticated request.
 */
export const MAX_CALLERS = 1000;
export const KNOWN_CALLER_MS = 3_600_000;
/** How long an authenticated caller keeps a rate limit of its own, which strangers cannot exhaust. */
export const FORMER_CALLER_MS = 30 * 24 * 3_600_000;
/**
 * How old the saved time of a caller's last authentication can get before it is updated. `SAVE_PAUSE_MS`: minimum interval between two
 * writes of the file with the authenticated callers. `MAX_CALLERS_FILE_BYTES`: maximum size of this file.
 */
export const SAVED_CALLER_MS = 600_000;
export const SAVE_PAUSE_MS = 60_000;
export const MAX_CALLERS_FILE_BYTES = 256 << 10;
/** How long a connection may be idle between requests, as in upstream. */
export const KEEP_ALIVE_TIMEOUT_MS = 90_000;
/** Idle time after which the kernel sends keep-alive probes on a client's connection, as in upstream (Go's net.ListenConfig). */
export const KEEP_ALIVE_PROBE_MS = 15_000;
/** Number of connections per user above which idle connections are closed. The API server keeps at most 25 idle connections. */
export const MAX_CALLER_CONNECTIONS = 250;
/** Time after which a client that does not read its response is disconnected. */
export const STALLED_CLIENT_MS = 60_000;
/** Maximum size of a request body that is read and discarded. */
export const MAX_IGNORED_BODY_BYTES = 64 << 10;
/** Pods whose JSON is longer than this are not cached. A typical pod takes about 3 KiB. */
export const MAX_CACHED_POD_LENGTH = 32 << 10;
/** Maximum run time of a `/run` command: upstream's limit for a response. */
export const MAX_RUN_MS = 4 * 3_600_000;
/** Maximum number of bearer tokens in a token file. `MAX_TOKEN_FILE_BYTES`: the file's maximum size. */
export const MAX_TOKENS = 10_000;
export const MAX_TOKEN_FILE_BYTES = 4 << 20;
/** Maximum number of cached token reviews. `MAX_ACCESS_REVIEWS`: the same for access reviews (8192 in upstream). */
export const MAX_REVIEWED_TOKENS = 4096;
export const MAX_ACCESS_REVIEWS = 8192;
/**
 * Maximum number of concurrent reviews of each type. Further reviews are refused, so unauthenticated callers cannot overload the API
 * server.
 */
export const MAX_REVIEWS_AT_ONCE = 100;
/**
 * Maximum length of a token to review; a service account token takes about 1.2 KiB. `MAX_USER_LENGTH`: maximum length of the user
 * information in the result, which is usually shorter.
 */
export const MAX_REVIEWED_TOKEN_LENGTH = 64 << 10;
export const MAX_USER_LENGTH = 64 << 10;
/**
 * How long a review may take, including its retries. `REVIEW_RETRIES`: the backoff between retries (upstream's
 * DefaultAuthWebhookRetryBackoff).
 */
export const REVIEW_TIMEOUT_MS = 10_000;
export const REVIEW_RETRIES = { most: 5, initialMs: 500, factor: 1.5 };
/** Validity period of the self-signed certificate, as in upstream. */
export const SELF_SIGNED_CERTIFICATE_MS = 365 * 24 * 3_600_000;
/** How often certificate and CA files are checked with stat. `TLS_REREAD_MS`: how often they are reread even if stat shows no change. */
export const TLS_FILES_PERIOD_MS = 1000;
export const TLS_REREAD_MS = 60_000;
/**
 * Default duration of a profile, as in Go. `MAX_PROFILE_SECONDS`: maximum duration; the samples are kept in memory until the profile ends.
 */
export const DEFAULT_PROFILE_SECONDS = 30;
export const MAX_PROFILE_SECONDS = 120;
/** Maximum number of entries in a directory listing under `/logs/`. */
export const MAX_LOG_DIRECTORY_ENTRIES = 10_000;
