/** The client's timeouts and limits, with their sources. */

// Connections

/** Timeout for establishing a connection, as in client-go's dialer. */
export const CONNECT_TIMEOUT_MS = 30_000;
/**
 * An HTTP/2 connection is pinged if nothing has been received for `PING_AFTER_MS`, and closed if the ping is not answered within
 * `PING_TIMEOUT_MS` (apimachinery's net/http.go).
 */
export const PING_AFTER_MS = 30_000;
export const PING_TIMEOUT_MS = 15_000;
/**
 * Backoff for a server that closes connections without a response. Go's HTTP/2 client backs off for up to 32 seconds per call; here, all
 * calls share one backoff.
 */
export const UNANSWERED_BACKOFF = { initialMs: 1000, maxMs: 5000 };
/**
 * Maximum number of HTTP/2 connections. Each carries as many concurrent calls as the server permits, which for an API server is 100 by
 * default.
 */
export const MAX_CONNECTIONS = 64;
/** Maximum number of HTTP/1.1 connections. Each watch needs its own, and a node watches every ConfigMap and Secret of its pods. */
export const HTTP1_CONNECTIONS = { calls: 1000, watches: 10_000 };
/** Maximum number of unread bytes per stream, to bound the memory used for slow consumers. */
export const STREAM_WINDOW_BYTES = 256 << 10;
export const CONNECTION_WINDOW_BYTES = 4 << 20;

// Calls

export const CALL_TIMEOUT_MS = 60_000;
/** Maximum number of retries, as in client-go. */
export const MAX_REPEATS = 10;
/** Delay before retrying a GET whose connection was lost, as in client-go. */
export const LOST_CONNECTION_REPEAT_SECONDS = 1;
/** Upper bound for `Retry-After`, because the retries of a watch have no deadline. */
export const MAX_RETRY_AFTER_SECONDS = 60;
/**
 * Maximum size of an object. etcd stores at most 1.5 MiB as protobuf; in JSON, Secrets are a third larger and managedFields several times
 * larger.
 */
export const MAX_OBJECT_BYTES = 16 << 20;
export const MAX_LIST_BYTES = 256 << 20;
/** Maximum body size of an unsuccessful response. */
export const MAX_STATUS_BYTES = 1 << 20;
export const MAX_STATUS_MESSAGE_LENGTH = 4096;
/** Maximum length of a plain-text response body quoted in an error, as in client-go (2 KiB). */
export const MAX_PLAIN_MESSAGE_LENGTH = 2048;

// Watches

/** How long the server may take to close a watch after its timeout before the client closes it. */
export const WATCH_END_MARGIN_MS = 30_000;
/** Backoff and watch timeouts, as in client-go's reflector. */
export const WATCH_BACKOFF = { initialMs: 800, maxMs: 30_000, resetMs: 120_000 };
export const WATCH_SECONDS = { least: 300, most: 600 };
/** A watch that ends this soon without any event counts as failed (reflector: VeryShortWatchError). */
export const VERY_SHORT_WATCH_MS = 1000;
/**
 * If the server sends neither an initial object nor the closing bookmark for this long, it is assumed not to support initial events, and
 * the objects are listed instead.
 */
export const INITIAL_EVENTS_SILENCE_MS = 30_000;
/** Maximum time for receiving the initial objects, equal to the minimum watch timeout of client-go's reflector. */
export const INITIAL_EVENTS_MS = 300_000;
export const LIST_PAGE_SIZE = 500;
export const MAX_LIST_PAGES = 2000;
/**
 * Maximum number of initial objects, the same as the maximum for a list. The total size of their events is limited to that of one list page
 * (`MAX_LIST_BYTES`).
 */
export const MAX_FIRST_OBJECTS = LIST_PAGE_SIZE * MAX_LIST_PAGES;
/** Number of deleted objects to remember, so that late events are not mistaken for new objects. */
export const MAX_REMEMBERED_DELETIONS = 1000;

// Kubeconfigs

/** Maximum size of a kubeconfig, or of a certificate, key or token file. */
export const MAX_CREDENTIAL_FILE_BYTES = 1 << 20;
/** How often a token file is reread, as in client-go. Certificate and key files are checked for changes at the same interval. */
export const REREAD_MS = 60_000;
/** Maximum run time of a credential plugin, which may request a token from a cloud service. */
export const PLUGIN_TIMEOUT_MS = 60_000;
/** How long a plugin's output is still read after it exits, because another process might hold it open. */
export const PLUGIN_OUTPUT_GRACE_MS = 1000;
export const MAX_PLUGIN_OUTPUT_BYTES = 1 << 20;
/** Minimum interval between runs of a credential plugin that failed or whose credentials were rejected by the server. */
export const PLUGIN_PAUSE_MS = 5000;
