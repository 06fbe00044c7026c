/** The kubelet's HTTP API: timers and bounds that are not options, with their sources. */

/** Connections that the kernel holds for a port until they are accepted: its own bound (net.core.somaxconn). */
export const LISTEN_BACKLOG = 4096;
/** Heads of requests hold the commands of `exec` in their URL: enough for three long arguments, percent-encoded. */
export const MAX_REQUEST_HEAD_BYTES = 256 << 10;
/** Requests of a connection whose answers are not out, and the heads of those among them that are not begun. */
export const MAX_WAITING_REQUESTS = 100;
export const MAX_WAITING_HEAD_BYTES = 512 << 10;
/** How long an upgrade waits for the answers to earlier requests of its connection: no client sends it before it has them. */
export const UPGRADE_PATIENCE_MS = 1000;
/** A client has this long to send the head of a request, and the whole of one; none of ours needs a body. */
export const REQUEST_HEAD_TIMEOUT_MS = 10_000;
/**
 * Connections that callers may open who have not been authenticated lately: of each, and of all such callers. A handshake takes some
 * milliseconds of a processor, and a connection some 50 KiB until it is closed.
 */
export const STRANGER_RATE = { perSecond: 20, burst: 50 };
export const ALL_STRANGERS_RATE = { perSecond: 100, burst: 200 };
/** Known callers that are remembered, as many strangers, and how long a caller counts as known after a request. */
export const MAX_CALLERS = 1000;
export const KNOWN_CALLER_MS = 3_600_000;
/** Between two requests on one connection: as upstream. */
export const KEEP_ALIVE_TIMEOUT_MS = 90_000;
/** Idle time after which the kernel probes a client's connection: as upstream (Go's net.ListenConfig). */
export const KEEP_ALIVE_PROBE_MS = 15_000;
/** A client that does not read its response is disconnected after this long. */
export const STALLED_CLIENT_MS = 60_000;
/** Request bodies that are not used are read and discarded up to this size. */
export const MAX_IGNORED_BODY_BYTES = 64 << 10;
/** The JSON of a pod is kept until it changes if it is no longer than this: usual ones have some 3 KiB. */
export const MAX_KEPT_POD_LENGTH = 32 << 10;
/** How long a command of `/run` may take: upstream's bound of a response. */
export const MAX_RUN_MS = 4 * 3_600_000;
/** Bearer tokens of a file, and its size. */
export const MAX_TOKENS = 10_000;
export const MAX_TOKEN_FILE_BYTES = 4 << 20;
/** Answers of reviews that are kept: of tokens, and of access (upstream's 8192). */
export const MAX_REVIEWED_TOKENS = 4096;
export const MAX_ACCESS_REVIEWS = 8192;
/** Reviews of one kind under way: those beyond are refused, or callers that nobody knows would hold up the API server. */
export const MAX_REVIEWS_AT_ONCE = 100;
/** A service account's token has some 1.2 KiB; what the API server says of its user has less. */
export const MAX_REVIEWED_TOKEN_LENGTH = 64 << 10;
export const MAX_USER_LENGTH = 64 << 10;
/** How long a review may take with its repetitions, and these (upstream's DefaultAuthWebhookRetryBackoff). */
export const REVIEW_TIMEOUT_MS = 10_000;
export const REVIEW_RETRIES = { most: 5, initialMs: 500, factor: 1.5 };
/** A certificate of our own is valid this long, as upstream's, and is replaced when less than a tenth of it is left. */
export const OWN_CERTIFICATE_MS = 365 * 24 * 3_600_000;
/** How often the files of certificates and authorities are looked at, and how often they are read though they seem unchanged. */
export const TLS_FILES_PERIOD_MS = 1000;
export const TLS_REREAD_MS = 60_000;
/** How long a profile is taken if its client does not say, as by Go's, and at most: its samples are kept in memory. */
export const DEFAULT_PROFILE_SECONDS = 30;
export const MAX_PROFILE_SECONDS = 120;
/** Entries of a directory below `/logs/` that are shown. */
export const MAX_LOG_DIRECTORY_ENTRIES = 10_000;
