/** Limits on the resources used by clients. */

/** Maximum query size. Queries consist of a question, an OPT record and possibly a signature. */
export const MAX_QUERY_BYTES = 4096;

/** Maximum number of open connections. A single client may have at most `MAX_CONNECTIONS_PER_CLIENT`. */
export const MAX_CONNECTIONS = 512;
export const MAX_CONNECTIONS_PER_CLIENT = 64;

/** Idle timeout of a connection (RFC 7766, section 6.2.3 recommends a few seconds). */
export const IDLE_MS = 10_000;

/** Maximum number of questions per connection that are answered concurrently. Further questions are read later. */
export const MAX_PIPELINED = 64;

/** How long to answer queries before letting the process do other work, in milliseconds. */
export const TURN_MS = 5;

/**
 * Maximum number of queued UDP queries, of which a single client may have `MAX_DATAGRAMS_PER_CLIENT`. Further queries are dropped, and
 * clients retry them.
 */
export const MAX_DATAGRAMS = 4096;
export const MAX_DATAGRAMS_PER_CLIENT = 256;

/** Maximum size of unread replies on a connection. The connection is closed if it is exceeded. */
export const MAX_UNSENT_BYTES = 1 << 18;

/** Size of the kernel's receive buffer, which keeps bursts of queries from being lost while the process is busy. */
export const RECEIVE_BUFFER_BYTES = 1 << 20;
