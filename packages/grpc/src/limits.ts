/** Maximum size of a message that client and server accept: 16 MiB, the limit of the kubelet, containerd and CRI-O. */
export const MAX_MESSAGE_BYTES = 16 << 20;

/** Deadline of a call for which neither its caller nor its connection sets one. */
export const DEFAULT_CALL_TIMEOUT_MS = 120_000;

/**
 * How long a server may take to send its HTTP/2 settings; gRPC's `MIN_CONNECT_TIMEOUT`. After that the client abandons the connection, and
 * the next call connects again.
 */
export const HTTP2_CONNECT_TIMEOUT_MS = 20_000;

/** Maximum number of acknowledgements (of pings and settings) queued for a peer that does not read them. nghttp2's bound. */
export const MAX_UNREAD_ANSWERS = 1000;

/**
 * A client's deadline timer expires before the server's, by the latency of the request, so the client's reset often arrives first. A reset
 * this close to the deadline counts as the deadline.
 */
export const CLIENT_CLOCK_AHEAD_MS = 200;

/** How long a client may take to send the HTTP/2 preface and settings; then it is disconnected. */
export const PREFACE_TIMEOUT_MS = 10_000;

/** Maximum number of connections over TCP. A kubelet has one or two. Only root reaches the unix socket, which has no bound. */
export const MAX_CONNECTIONS = 500;

/** Maximum number of TLS connections whose clients have not authenticated yet; above it, the oldest is closed. */
export const MAX_WAITING_CONNECTIONS = 250;

/**
 * Maximum number of concurrent calls on one connection. The message size bounds the memory of each call; there is no bound on the total.
 */
export const MAX_CALLS = 1000;

/** Maximum number of calls that a client may reset in a burst, and how many more it may reset per second. nghttp2's bounds. */
export const MAX_RESETS = 1000;
export const RESETS_PER_SECOND = 33;

/** How long running calls may continue when a server closes. */
export const DEFAULT_CLOSE_GRACE_MS = 5000;

/** How long a connection without calls stays open. Clients reconnect when they need to. */
export const MAX_CONNECTION_IDLE_MS = 30 * 60_000;

/** Maximum number of stack traces of unexpected errors whose source positions are cached. */
export const MAX_KNOWN_STACKS = 16;
