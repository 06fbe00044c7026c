/** The client's timers and bounds, with their sources. */

// Connections

/** client-go's dialer. */
export const CONNECT_TIMEOUT_MS = 30_000;
/** An HTTP/2 connection that was silent for so long is asked whether it lives, and given up if it does not answer (apimachinery's net/http.go). */
export const PING_AFTER_MS = 30_000;
export const PING_TIMEOUT_MS = 15_000;
/** Of a server that ends connections without an answer. Go's HTTP/2 client goes up to 32 s, but for each call: all calls of ours wait. */
export const UNANSWERED_BACKOFF = { initialMs: 1000, maxMs: 5000 };
/** Each takes as many calls as the server allows, 100 with an API server's defaults. */
export const MAX_CONNECTIONS = 64;
/** Over HTTP/1.1, where a watch has a connection of its own: a node watches each ConfigMap and Secret of its pods. */
export const HTTP1_CONNECTIONS = { calls: 1000, watches: 10_000 };
/** What a stream may send before its reader has taken it: what a slow reader costs. */
export const STREAM_WINDOW_BYTES = 256 << 10;
export const CONNECTION_WINDOW_BYTES = 4 << 20;

// Calls

export const CALL_TIMEOUT_MS = 60_000;
/** client-go's count of repeats. */
export const MAX_REPEATS = 10;
/** client-go waits as long after a connection was lost under a GET. */
export const LOST_CONNECTION_REPEAT_SECONDS = 1;
/** A watch has no timeout of its own: a server that asks for more waits is taken at this. */
export const MAX_RETRY_AFTER_SECONDS = 60;
/** An object is at most 1.5 MiB in etcd, as protobuf; Secrets are longer by a third as JSON, and managedFields several times. */
export const MAX_OBJECT_BYTES = 16 << 20;
export const MAX_LIST_BYTES = 256 << 20;
/** Of an answer that is no success. */
export const MAX_STATUS_BYTES = 1 << 20;
export const MAX_STATUS_MESSAGE_LENGTH = 4096;
/** client-go's bound for plain text in an error (2 KiB). */
export const MAX_PLAIN_MESSAGE_LENGTH = 2048;

// Watches

/** A server that does not end a watch when it was asked to has this much longer. */
export const WATCH_END_MARGIN_MS = 30_000;
/** client-go's reflector. */
export const WATCH_BACKOFF = { initialMs: 800, maxMs: 30_000, resetMs: 120_000 };
export const WATCH_SECONDS = { least: 300, most: 600 };
/** A watch that ended sooner without an event has failed (reflector: VeryShortWatchError). */
export const VERY_SHORT_WATCH_MS = 1000;
/** A server that streams no first object and no end of them for so long does not know how: they are listed instead. */
export const INITIAL_EVENTS_SILENCE_MS = 30_000;
/** The same for all of them, which is the least time after which client-go's reflector has such a watch ended. */
export const INITIAL_EVENTS_MS = 300_000;
export const LIST_PAGE_SIZE = 500;
export const MAX_LIST_PAGES = 2000;
/** As many as lists may have; their events may have as many bytes as a page of a list (`MAX_LIST_BYTES`). */
export const MAX_FIRST_OBJECTS = LIST_PAGE_SIZE * MAX_LIST_PAGES;
/** Objects that are gone are remembered, so that late news of them is not taken for new ones. */
export const MAX_REMEMBERED_DELETIONS = 1000;

// Kubeconfigs

/** Of a kubeconfig, or a file with certificates, a key or a token. */
export const MAX_CREDENTIAL_FILE_BYTES = 1 << 20;
/** client-go's period for token files; also how often files are looked at for what connections are made with. */
export const REREAD_MS = 60_000;
/** Plugins may ask a cloud for a token. */
export const PLUGIN_TIMEOUT_MS = 60_000;
/** What a plugin has written is there soon after it has ended, unless somebody else keeps its output open. */
export const PLUGIN_OUTPUT_GRACE_MS = 1000;
export const MAX_PLUGIN_OUTPUT_BYTES = 1 << 20;
/** A plugin that failed, or whose credentials were refused at once, is not started more often than this. */
export const PLUGIN_PAUSE_MS = 5000;
