import type { ServerOptions } from 'node:http';
import type { SecureServerOptions } from 'node:http2';

const MAX_HEADER_BYTES = 64 << 10;

/** Time limit for a client to send the request headers, and to complete a TLS handshake. */
const MAX_HEADERS_MS = 10_000;

/** Slightly longer than client-go keeps idle connections open. */
export const MAX_IDLE_MS = 120_000;

/** A TLS connection is closed if no request on it has been authenticated within this time. */
export const MAX_UNAUTHENTICATED_MS = 20_000;

/**
 * Limits for the connections of authenticated users, see `CallerConnections`. They must allow for many watches, because each watch over
 * HTTP/1.1 needs its own connection.
 */
export const CALLER_CONNECTIONS = { total: 2000, perCaller: 1000 };

/**
 * Leaves room for 1000 connections of clients that have not been authenticated (`WaitingClients`), so that one user with as many connections
 * as possible does not lock out others.
 */
export const MAX_CONNECTIONS = 2 * CALLER_CONNECTIONS.total + 1000;

/** Maximum number of connections waiting to be accepted. The kernel has the same limit (net.core.somaxconn). */
export const LISTEN_BACKLOG = 4096;

/** Detects clients that have vanished, such as a suspended laptop. This is needed because nothing is sent on a watch without events. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: 30_000, noDelay: true };

/** Limits for HTTP/1.1 connections. The time to send a request body is limited by the request timeout. */
export const HTTP1_BOUNDS: ServerOptions = {
  ...KEEP_ALIVE,
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: MAX_HEADERS_MS,
  requestTimeout: 0,
  keepAliveTimeout: MAX_IDLE_MS,
  connectionsCheckingInterval: 5000,
};

/** Limits for HTTP/2 connections. A client multiplexes all of its watches over one connection. */
export const HTTP2_BOUNDS: SecureServerOptions = {
  settings: { maxConcurrentStreams: 1000, maxHeaderListSize: MAX_HEADER_BYTES, enablePush: false },
  // in megabytes; includes unsent response data, of which each stream holds at most one group of parts (`write-parts.ts`)
  maxSessionMemory: 64,
  maxSettings: 32,
  maxOutstandingPings: 10,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  // a restarting informer cancels all of its watches at the same time
  streamResetBurst: 1000,
  streamResetRate: 33,
  handshakeTimeout: MAX_HEADERS_MS,
  unknownProtocolTimeout: MAX_HEADERS_MS,
};
