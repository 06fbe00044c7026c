/** Timers and limits of the client, with their sources. */

// Connections

/** As in client-go's dialer. */
export const CONNECT_TIMEOUT_MS = 30_000;
/**
 * An HTTP/2 connection is pinged if nothing has been received for this time, and closed if it does not answer in time (apimachinery's
 * net/http.go).
 */
export const PING_AFTER_MS = 30_000;
export const PING_TIMEOUT_MS = 15_000;
/**
 * Backoff for a server that closes connections without a response. Go's HTTP/2 client backs off for up to 32 s, but each call for itself;
 * here all calls wait together.
 */
export const UNANSWERED_BACKOFF = { initialMs: 1000, maxMs: 5000 };
/** Maximum number of HTTP/2 connections. A connection takes as many calls as the server permits; an API server permits 100 by default. */
export const MAX_CONNECTIONS = 64;
/** Maximum number of HTTP/1.1 connections. Each watch needs its own, and a node watches every ConfigMap and Secret of its pods. */
export const HTTP1_CONNECTIONS = { calls: 1000, watches: 10_000 };
/** Maximum number of unread bytes per stream; it bounds the memory that slow readers need. */
export const STREAM_WINDOW_BYTES = 256 << 10;
export const CONNECTION_WINDOW_BYTES = 4 << 20;

// Calls

export const CALL_TIMEOUT_MS = 60_000;
/** Maximum number of retries, as in client-go. */
export const MAX_REPEATS = 10;
/** Delay before a GET is retried after a lost connection, as in client-go. */
export const LOST_CONNECTION_REPEAT_SECONDS = 1;
/** Upper bound for `Retry-After`, because the retries of a watch have no deadline. */
export const MAX_RETRY_AFTER_SECONDS = 60;
/**
 * Maximum size of an object. etcd stores at most 1.5 MiB as protobuf; JSON makes Secrets longer by a third, and managedFields several times
 * as long.
 */
export const MAX_OBJECT_BYTES = 16 << 20;
export const MAX_LIST_BYTES = 256 << 20;
/** Maximum size of the body of an unsuccessful response. */
export const MAX_STATUS_BYTES = 1 << 20;
export const MAX_STATUS_MESSAGE_LENGTH = 4096;
/** Maximum length of a plain-text response in an error, as in client-go (2 KiB). */
export const MAX_PLAIN_MESSAGE_LENGTH = 2048;

// Watches

/** Time that the server has to end a watch after its timeout; then the client ends it. */
export const WATCH_END_MARGIN_MS = 30_000;
/** As in client-go's reflector. */
export const WATCH_BACKOFF = { initialMs: 800, maxMs: 30_000, resetMs: 120_000 };
export const WATCH_SECONDS = { least: 300, most: 600 };
/** A watch that ends earlier without an event counts as failed (reflector: VeryShortWatchError). */
export const VERY_SHORT_WATCH_MS = 1000;
/**
 * If the server sends neither an initial object nor their end for this time, it does not support initial events, and the objects are listed
 * instead.
 */
export const INITIAL_EVENTS_SILENCE_MS = 30_000;
/** Maximum time for the initial objects: the minimum timeout of a watch in client-go's reflector. */
export const INITIAL_EVENTS_MS = 300_000;
export const LIST_PAGE_SIZE = 500;
export const MAX_LIST_PAGES = 2000;
/** As many objects as a list may have. Together, their events may have as many bytes as one page of a list (`MAX_LIST_BYTES`). */
export const MAX_FIRST_OBJECTS = LIST_PAGE_SIZE * MAX_LIST_PAGES;
/** Number of deleted objects to remember, so that late events are not mistaken for new objects. */
export const MAX_REMEMBERED_DELETIONS = 1000;

// Kubeconfigs

/** Maximum size of a kubeconfig, and of a file with certificates, a key or a token. */
export const MAX_CREDENTIAL_FILE_BYTES = 1 << 20;
/** How often client-go reads a token file again. The files for connections are checked equally often. */
export const REREAD_MS = 60_000;
/** Maximum run time of a plugin, which may have to request a token from a cloud service. */
export const PLUGIN_TIMEOUT_MS = 60_000;
/** How long a plugin's output stays open after the plugin has exited, as another process may hold it open. */
export const PLUGIN_OUTPUT_GRACE_MS = 1000;
export const MAX_PLUGIN_OUTPUT_BYTES = 1 << 20;
/** Minimum interval between two runs of a plugin that has failed, or whose credentials the server has rejected. */
export const PLUGIN_PAUSE_MS = 5000;
