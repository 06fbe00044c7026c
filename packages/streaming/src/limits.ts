/** How long a server may take to answer an upgrade: it may ask a runtime first. */
export const UPGRADE_ANSWER_TIMEOUT_MS = 30_000;

/** How long the other side of a connection that we have ended may take to close it as well. */
export const LINGER_TIMEOUT_MS = 10_000;

/** How long the data or the error stream of a forwarded connection may wait for the other one. */
export const PAIR_TIMEOUT_MS = 30_000;

/** How long a connection to a pod's port may take. */
export const DIAL_TIMEOUT_MS = 30_000;

/**
 * A process may leave children that hold its output open. After its own end, output is passed on as long as some comes and
 * the client takes it; after this long without a byte it is over.
 */
export const DRAIN_IDLE_MS = 30_000;

/** How long a client may take to open the streams it announced. */
export const STREAMS_TIMEOUT_MS = 30_000;

/** Idle time after which the kernel probes a client's connection. */
export const KEEP_ALIVE_MS = 30_000;

/** How long `close` waits for processes to be told. */
export const CLOSE_TIMEOUT_MS = 5_000;

/** How long a URL may wait for its client, as in the kubelet's and containerd's streaming server. */
export const TOKEN_TTL_MS = 60_000;

/** How long a client may be connected before its request with a token is whole. */
export const REQUEST_TIMEOUT_MS = 10_000;

/** While a connection is held back, a ping this often finds out whether its other side is still there. */
export const HELD_BACK_PING_MS = 1_000;

/** How long the other side may take to answer a new stream; Kubernetes' clients wait as long. */
export const REPLY_TIMEOUT_MS = 30_000;
