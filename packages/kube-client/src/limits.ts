/** Timers and limits of the client, with their sources. */

// Connections

/** The same as in client-go's dialer. */
export const CONNECT_TIMEOUT_MS = 30_000;
/**
 * An HTTP/2 connection without received data for this time is pinged, and abandoned without an answer in time (apimachinery's net/http.go).
 */
export const PING_AFTER_MS = 30_000;
export const PING_TIMEOUT_MS = 15_000;
/**
 * Backoff for a server that closes connections without a response. Go's HTTP/2 client goes up to 32 s, but per call: here all calls wait.
 */
export const UNANSWERED_BACKOFF = { initialMs: 1000, maxMs: 5000 };
/** Most HTTP/2 connections. Each takes as many calls as the server permits, 100 by an API server's default. */
export const MAX_CONNECTIONS = 64;
/** Most connections over HTTP/1.1, where each watch needs its own: a node watches every ConfigMap and Secret of its pods. */
export const HTTP1_CONNECTIONS = { calls: 1000, watches: 10_000 };
/** Most unread bytes per stream, which bounds the memory for slow readers. */
export const STREAM_WINDOW_BYTES = 256 << 10;
export const CONNECTION_WINDOW_BYTES = 4 << 20;

// Calls

export const CALL_TIMEOUT_MS = 60_000;
/** The same as client-go's number of retries. */
export const MAX_REPEATS = 10;
/** The same delay as in client-go after a GET whose connection was lost. */
export const LOST_CONNECTION_REPEAT_SECONDS = 1;
/** Upper bound of `Retry-After`, because the retries of a watch have no deadline. */
export const MAX_RETRY_AFTER_SECONDS = 60;
/** An object has at most 1.5 MiB in etcd, as protobuf. JSON makes Secrets longer by a third, and managedFields several times. */
export const MAX_OBJECT_BYTES = 16 << 20;
export const MAX_LIST_BYTES = 256 << 20;
/** Largest body of an unsuccessful response. */
export const MAX_STATUS_BYTES = 1 << 20;
export const MAX_STATUS_MESSAGE_LENGTH = 4096;
/** client-go's limit for plain text in an error (2 KiB). */
export const MAX_PLAIN_MESSAGE_LENGTH = 2048;

// Watches

/** Extra time for a server to end a watch at its timeout, before the client ends it. */
export const WATCH_END_MARGIN_MS = 30_000;
/** The same as in client-go's reflector. */
export const WATCH_BACKOFF = { initialMs: 800, maxMs: 30_000, resetMs: 120_000 };
export const WATCH_SECONDS = { least: 300, most: 600 };
/** A watch that ends earlier without an event counts as failed (reflector: VeryShortWatchError). */
export const VERY_SHORT_WATCH_MS = 1000;
/**
 * If neither an initial object nor their end is received for this time, the server does not support initial events: the objects are listed
 * instead.
 */
export const INITIAL_EVENTS_SILENCE_MS = 30_000;
/** Total time for the initial objects: the least timeout of such a watch in client-go's reflector. */
export const INITIAL_EVENTS_MS = 300_000;
export const LIST_PAGE_SIZE = 500;
export const MAX_LIST_PAGES = 2000;
/** As many objects as a list may have. Their events may have as many bytes as a page of a list (`MAX_LIST_BYTES`). */
export const MAX_FIRST_OBJECTS = LIST_PAGE_SIZE * MAX_LIST_PAGES;
/** Deleted objects are remembered, so that late events are not mistaken for new objects. */
export const MAX_REMEMBERED_DELETIONS = 1000;

// Kubeconfigs

/** Largest kubeconfig, or file with certificates, a key or a token. */
export const MAX_CREDENTIAL_FILE_BYTES = 1 << 20;
/** client-go's period for token files; also the interval at which the files for connections are checked. */
export const REREAD_MS = 60_000;
/** Plugins may request a token from a cloud service. */
export const PLUGIN_TIMEOUT_MS = 60_000;
/** How long to wait for output after a plugin has exited; another process may hold its output open. */
export const PLUGIN_OUTPUT_GRACE_MS = 1000;
export const MAX_PLUGIN_OUTPUT_BYTES = 1 << 20;
/** Minimum interval between runs of a plugin that failed, or whose credentials were rejected immediately. */
export const PLUGIN_PAUSE_MS = 5000;
