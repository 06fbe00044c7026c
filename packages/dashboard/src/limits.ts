/** Limits of the server. README.md lists those that a page can reach. */

/** Time after which a printed link can no longer be opened. */
export const LINK_LIFE_MS = 5 * 60_000;
/** Maximum number of unused links. The oldest one becomes invalid when another one is printed. */
export const MAX_LINKS = 8;
/** Time after which a session ends. */
export const SESSION_LIFE_MS = 12 * 60 * 60_000;
/** Maximum number of sessions. The oldest one ends when another one begins. */
export const MAX_SESSIONS = 16;
/** Maximum number of concurrent requests of a session, including its WebSockets. */
export const MAX_SESSION_REQUESTS = 100;
/** Maximum number of concurrent WebSockets of a session. */
export const MAX_SESSION_SOCKETS = 64;
/** Maximum number of connections to the server. 1000 of them may be without a session (`WaitingClients`); of those, the oldest are closed. */
export const MAX_CONNECTIONS = 4096;
/** Maximum length of a request's path and query. */
export const MAX_TARGET_LENGTH = 8 << 10;
/** Maximum number of headers of a request. */
export const MAX_HEADERS = 64;
/** Maximum size of the request line and the headers of a request. */
export const MAX_HEAD_BYTES = 16 << 10;
/** Time for a client to send the request line and the headers. */
export const HEAD_TIMEOUT_MS = 10_000;
/** Time for a client to send a whole request. */
export const REQUEST_TIMEOUT_MS = 60_000;
/** Maximum size of a body that a page sends to the API server. kube-apiserver accepts 3 MiB. */
export const MAX_BODY_BYTES = 4 << 20;
/** Maximum size of a body that a page sends to a path of the dashboard. */
export const MAX_DASHBOARD_BODY_BYTES = 16 << 10;
/** Maximum size of an answer to a call that the dashboard itself makes. */
export const MAX_READ_BYTES = 16 << 20;
/** Time for the API server to answer a call that the dashboard itself makes. */
export const CALL_TIMEOUT_MS = 10_000;
/** Time to connect to the API server, with the TLS handshake. */
export const CONNECT_TIMEOUT_MS = 10_000;
/** Maximum number of kept connections to the API server. Streams have connections of their own. */
export const MAX_SHARED_CONNECTIONS = 16;
/** Number of bytes queued for a WebSocket's browser above which the API server's answer is not read further. */
export const HIGH_WATER_BYTES = 256 << 10;
/** Period at which a node's usage is sampled. */
export const SAMPLE_PERIOD_MS = 10_000;
/** Number of samples that are kept: those of an hour. */
export const MAX_SAMPLES = 360;
/** Time after the last request for samples at which sampling stops. */
export const USAGE_INTEREST_MS = 30_000;
/** Maximum number of namespaces that are offered. */
export const MAX_NAMESPACES = 500;
/** Number of concurrent access reviews that find the namespaces which the user may see. */
export const NAMESPACE_REVIEWS = 8;
/** Maximum number of steps of a pod's starts. The kubelet keeps 500, and the runtime has several in each. */
export const MAX_SPANS = 10_000;
/** Time for a name server to answer, and for a Service to accept a connection. */
export const TRY_TIMEOUT_MS = 3000;
/** Maximum number of addresses of a Service that are tried. */
export const MAX_TRIED_ADDRESSES = 8;
