/** Bounds of what clients may take. */

/** Largest query: clients send a question, an OPT record and perhaps a signature. */
export const MAX_QUERY_BYTES = 4096;

/** Connections of all clients, and of one. */
export const MAX_CONNECTIONS = 512;
export const MAX_CONNECTIONS_PER_CLIENT = 64;

/** How long a connection may be idle (RFC 7766, section 6.2.3 wants seconds). */
export const IDLE_MS = 10_000;

/** Questions of a connection that are answered at the same time. More are read later. */
export const MAX_PIPELINED = 64;

/** How long queries are answered before other work of the process goes first. */
export const TURN_MS = 5;

/** Queries by UDP that wait, and those of one client. More are dropped: the client asks again. */
export const MAX_DATAGRAMS = 4096;
export const MAX_DATAGRAMS_PER_CLIENT = 256;

/** Answers of a connection that the client has not taken; with more, it is closed. */
export const MAX_UNSENT_BYTES = 1 << 18;

/** Buffer of the kernel for queries that wait, so that a burst is not lost while the process does something else. */
export const RECEIVE_BUFFER_BYTES = 1 << 20;
