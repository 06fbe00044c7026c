/** How long a server may take to respond to an upgrade request. The server might first have to call a container runtime. */
export const UPGRADE_ANSWER_TIMEOUT_MS = 30_000;

/** How long to wait for the peer to close a connection that this side has ended. */
export const LINGER_TIMEOUT_MS = 10_000;

/** How long the data stream or the error stream of a forwarded connection waits for its counterpart. */
export const PAIR_TIMEOUT_MS = 30_000;

/** Timeout for connecting to a pod's port. */
export const DIAL_TIMEOUT_MS = 30_000;

/**
 * How long the output of an exited process may be idle before the session ends. The process's children might hold the output open; their
 * output is forwarded as long as they produce any and the client reads it.
 */
export const DRAIN_IDLE_MS = 30_000;

/** How long a client may take to open the streams that it announced. */
export const STREAMS_TIMEOUT_MS = 30_000;

/** Idle time after which the kernel probes a client's connection. */
export const KEEP_ALIVE_MS = 30_000;

/** How long closing the streaming server waits for its sessions' processes to be closed. */
export const CLOSE_TIMEOUT_MS = 5_000;

/** How long a URL is valid, as in the kubelet's and containerd's streaming servers. */
export const TOKEN_TTL_MS = 60_000;

/** How long a client may take, after connecting, to send a complete request with a token. */
export const REQUEST_TIMEOUT_MS = 10_000;

/** Interval between pings on a paused connection. They detect that the peer has disconnected. */
export const PAUSED_PING_MS = 1_000;

/** How long the peer may take to reply to a new stream, as in Kubernetes clients. */
export const REPLY_TIMEOUT_MS = 30_000;
