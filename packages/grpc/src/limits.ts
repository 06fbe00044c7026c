/** The largest message that client and server accept: 16 MiB, the limit of the kubelet, containerd and CRI-O. */
export const MAX_MESSAGE_BYTES = 16 << 20;

/** Deadline of a call for which neither its caller nor its connection sets one. */
export const DEFAULT_CALL_TIMEOUT_MS = 120_000;

/**
 * A connection whose server sends no HTTP/2 settings within this time is abandoned; the next call connects again. gRPC's
 * `MIN_CONNECT_TIMEOUT`.
 */
export const HTTP2_CONNECT_TIMEOUT_MS = 20_000;

/** Most acknowledgements of pings and settings that are queued for a peer that does not read; nghttp2's bound. */
export const MAX_UNREAD_ANSWERS = 1000;

/**
 * A client's deadline timer expires before the server's, by the latency of the request, so the client's reset often arrives first. A reset
 * this close to the deadline counts as the deadline.
 */
export const CLIENT_CLOCK_AHEAD_MS = 200;

/** A client that has not sent the HTTP/2 preface by this time is disconnected. */
export const PREFACE_TIMEOUT_MS = 10_000;

/** Most connections of one listener. A kubelet has one or two. */
export const MAX_CONNECTIONS = 500;

/** Most connections over TLS whose clients have not authenticated yet; above this, the oldest is closed. */
export const MAX_WAITING_CONNECTIONS = 250;

/** Most concurrent calls on one connection. The memory of a call is bounded by the message size; there is no total. */
export const MAX_CALLS = 1000;

/** Most calls that a client may reset in a burst, and how many more per second; nghttp2's bounds. */
export const MAX_RESETS = 1000;
export const RESETS_PER_SECOND = 33;

/** How long running calls may continue when a server closes. */
export const DEFAULT_CLOSE_GRACE_MS = 5000;

/** A connection without calls is closed after this time; clients reconnect when they need to. */
export const MAX_CONNECTION_IDLE_MS = 30 * 60_000;

/** Most stack traces of unexpected errors whose source positions are cached. */
export const MAX_KNOWN_STACKS = 16;
