/** Maximum size of a message accepted by clients and servers: 16 MiB, the limit of the kubelet, containerd and CRI-O. */
export const MAX_MESSAGE_BYTES = 16 << 20;

/** Default deadline for calls if neither the caller nor the connection sets one. */
export const DEFAULT_CALL_TIMEOUT_MS = 120_000;

/**
 * How long a server may take to send its HTTP/2 settings (gRPC's `MIN_CONNECT_TIMEOUT`). After that, the client abandons the connection,
 * and the next call reconnects.
 */
export const HTTP2_CONNECT_TIMEOUT_MS = 20_000;

/** Maximum number of ping and settings acknowledgements queued for a peer that does not read them; the same as in nghttp2. */
export const MAX_UNREAD_ANSWERS = 1000;

/**
 * A client's deadline timer expires earlier than the server's, by the request's latency, so the client's reset often arrives before the
 * server's own timer expires. A reset this close to the deadline is treated as an expired deadline.
 */
export const CLIENT_CLOCK_AHEAD_MS = 200;

/** How long a client may take to send the HTTP/2 preface and settings before it is disconnected. */
export const PREFACE_TIMEOUT_MS = 10_000;

/**
 * Maximum number of TCP connections. A kubelet has one or two. The number of connections to the Unix socket is not limited, because only
 * root can reach it.
 */
export const MAX_CONNECTIONS = 500;

/** Maximum number of TLS connections whose clients have not authenticated yet. Beyond that, the oldest is closed. */
export const MAX_WAITING_CONNECTIONS = 250;

/** Maximum number of concurrent calls per connection. The memory of each call is limited by the message size; there is no overall limit. */
export const MAX_CALLS = 1000;

/** Limits how many calls a client may reset: a burst of `MAX_RESETS`, replenished at `RESETS_PER_SECOND`. Same values as in nghttp2. */
export const MAX_RESETS = 1000;
export const RESETS_PER_SECOND = 33;

/** How long in-flight calls may continue when a server closes. */
export const DEFAULT_CLOSE_GRACE_MS = 5000;

/** How long a connection without calls stays open. Clients reconnect when they need to. */
export const MAX_CONNECTION_IDLE_MS = 30 * 60_000;

/** Maximum number of cached stack traces of unexpected errors, with resolved source positions. */
export const MAX_KNOWN_STACKS = 16;
