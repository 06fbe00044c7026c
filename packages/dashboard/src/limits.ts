/** Limits of the server. Those that a page can reach are listed in README.md. */

/** How long a printed link remains valid. */
export const LINK_LIFE_MS = 5 * 60_000;
/** Maximum number of unused links. Printing another link invalidates the oldest one. */
export const MAX_LINKS = 8;
/** Maximum duration of a session. */
export const SESSION_LIFE_MS = 12 * 60 * 60_000;
/** Maximum number of sessions. Starting another one ends the oldest. */
export const MAX_SESSIONS = 16;
/** Maximum number of concurrent requests per session, including WebSockets. */
export const MAX_SESSION_REQUESTS = 100;
/** Maximum number of concurrent WebSockets per session. */
export const MAX_SESSION_SOCKETS = 64;
/**
 * Maximum number of connections to the server. Up to 1000 of them may be without a session (`WaitingClients`); beyond that, the oldest of
 * these are closed.
 */
export const MAX_CONNECTIONS = 4096;
/** Maximum length of a request's path and query string. */
export const MAX_TARGET_LENGTH = 8 << 10;
/** Maximum number of headers per request. */
export const MAX_HEADERS = 64;
/** Maximum total size of a request's first line and headers. */
export const MAX_HEAD_BYTES = 16 << 10;
/** How long a client may take to send the request line and headers. */
export const HEAD_TIMEOUT_MS = 10_000;
/** How long a client may take to send an entire request. */
export const REQUEST_TIMEOUT_MS = 60_000;
/** Maximum size of a request body to forward to the API server. kube-apiserver accepts 3 MiB. */
export const MAX_BODY_BYTES = 4 << 20;
/** Maximum size of a request body for the dashboard's own paths. */
export const MAX_DASHBOARD_BODY_BYTES = 16 << 10;
/** Maximum size of the response to a request made by the dashboard itself. */
export const MAX_READ_BYTES = 16 << 20;
/** Timeout for requests made to the API server by the dashboard itself. */
export const CALL_TIMEOUT_MS = 10_000;
/** Timeout for connecting to the API server, including the TLS handshake. */
export const CONNECT_TIMEOUT_MS = 10_000;
/** Maximum number of keep-alive connections to the API server. Streams use their own connections. */
export const MAX_SHARED_CONNECTIONS = 16;
/** High-water mark for bytes queued on a browser's WebSocket. Above it, reading of the API server's response is paused. */
export const HIGH_WATER_BYTES = 256 << 10;
/** Sampling period of a node's usage. */
export const SAMPLE_PERIOD_MS = 10_000;
/** Number of retained samples, enough for an hour. */
export const MAX_SAMPLES = 360;
/** How long sampling continues after samples were last requested. */
export const USAGE_INTEREST_MS = 30_000;
/** Maximum number of namespaces to offer. */
export const MAX_NAMESPACES = 500;
/** Number of concurrent access reviews when finding the namespaces that the user may see. */
export const NAMESPACE_REVIEWS = 8;
/**
 * Maximum number of steps of a pod's startups. The kubelet retains 500 of its own, and the container runtime adds several to each of them.
 */
export const MAX_SPANS = 10_000;
/** Timeout for DNS queries, and for connecting to a Service. */
export const TRY_TIMEOUT_MS = 3000;
/** Maximum number of a Service's addresses to try. */
export const MAX_TRIED_ADDRESSES = 8;
