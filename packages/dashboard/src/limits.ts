/** Bounds of the server. The contract in README.md names those that a page can meet. */

/** How long a link may be opened after the command has printed it. */
export const LINK_LIFE_MS = 5 * 60_000;
/** Maximum number of links that are not opened yet; the oldest one becomes invalid. */
export const MAX_LINKS = 8;
export const SESSION_LIFE_MS = 12 * 60 * 60_000;
/** Maximum number of sessions; the oldest one ends. */
export const MAX_SESSIONS = 16;
/** Maximum number of requests of a session that are under way, including its WebSockets. */
export const MAX_SESSION_REQUESTS = 100;
export const MAX_SESSION_SOCKETS = 64;
/** Maximum number of connections to the server. */
export const MAX_CONNECTIONS = 512;
/** Maximum length of a request's path and query. */
export const MAX_TARGET_LENGTH = 8 << 10;
export const MAX_HEADERS = 64;
/** Maximum size of a request's head. */
export const MAX_HEAD_BYTES = 16 << 10;
/** Time for a client to send the head of a request. */
export const HEAD_TIMEOUT_MS = 10_000;
/** Time for a client to send a whole request. */
export const REQUEST_TIMEOUT_MS = 60_000;
/** Maximum size of an object that a page sends to the API server: kube-apiserver accepts 3 MiB. */
export const MAX_BODY_BYTES = 4 << 20;
/** Maximum size of a body for the server's own paths. */
export const MAX_OWN_BODY_BYTES = 16 << 10;
/** Maximum size of an answer of the API server that this server reads itself. */
export const MAX_READ_BYTES = 16 << 20;
/** Time for the API server to answer a call of this server. */
export const CALL_TIMEOUT_MS = 10_000;
/** Time to connect to the API server. */
export const CONNECT_TIMEOUT_MS = 10_000;
/** Maximum number of connections to the API server that short calls share. */
export const MAX_SHARED_CONNECTIONS = 16;
/** Number of bytes that wait for the browser in a WebSocket, above which the API server's stream is not read. */
export const HIGH_WATER_BYTES = 256 << 10;
/** Period of the samples of a node's usage. */
export const SAMPLE_PERIOD_MS = 10_000;
/** The samples of an hour. */
export const MAX_SAMPLES = 360;
/** Samples are taken for this long after the last request for them. */
export const USAGE_INTEREST_MS = 30_000;
/** Time for a name server to answer, and for a Service to accept a connection. */
export const TRY_TIMEOUT_MS = 3000;
/** Maximum number of addresses of a Service that are tried. */
export const MAX_TRIED_ADDRESSES = 8;
/** Number of lines of a container's log in an explanation. */
export const LOG_LINES = 5;
/** Maximum length of a line of a log in an explanation. */
export const MAX_LINE_BYTES = 4 << 10;
