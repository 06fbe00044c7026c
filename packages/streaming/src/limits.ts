/** How long a server may take to respond to an upgrade: it may have to call a runtime first. */
export const UPGRADE_ANSWER_TIMEOUT_MS = 30_000;

/** How long the peer of a connection that this side has ended may take to close it too. */
export const LINGER_TIMEOUT_MS = 10_000;

/** How long the data or the error stream of a forwarded connection waits for the other one. */
export const PAIR_TIMEOUT_MS = 30_000;

/** Timeout of a connection to a pod's port. */
export const DIAL_TIMEOUT_MS = 30_000;

/**
 * An exited process may leave children that hold its output open. Their output is forwarded as long as there is some and the client reads
 * it; after this time without a byte the session ends.
 */
export const DRAIN_IDLE_MS = 30_000;

/** How long a client may take to open the streams that it announced. */
export const STREAMS_TIMEOUT_MS = 30_000;

/** Idle time after which the kernel probes a client's connection. */
export const KEEP_ALIVE_MS = 30_000;

/** How long `close` waits until the processes have been closed. */
export const CLOSE_TIMEOUT_MS = 5_000;

/** How long a URL is valid, as in the streaming servers of the kubelet and containerd. */
export const TOKEN_TTL_MS = 60_000;

/** How long a client may be connected without having sent a complete request with a token. */
export const REQUEST_TIMEOUT_MS = 10_000;

/** Interval of the pings on a paused connection, which detect that the peer has disconnected. */
export const PAUSED_PING_MS = 1_000;

/** How long the peer may take to answer a new stream; the same as in Kubernetes' clients. */
export const REPLY_TIMEOUT_MS = 30_000;
