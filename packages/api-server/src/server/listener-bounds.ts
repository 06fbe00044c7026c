import type { ServerOptions } from 'node:http';
import type { SecureServerOptions } from 'node:http2';

const MAX_HEADER_BYTES = 64 << 10;

/** Timeout for receiving request headers and for TLS handshakes. */
const MAX_HEADERS_MS = 10_000;

/** How long a connection may be idle. Slightly longer than client-go's idle timeout. */
export const MAX_IDLE_MS = 120_000;

/** TLS connections are closed if no request on them is authenticated within this time. */
export const MAX_UNAUTHENTICATED_MS = 20_000;

/**
 * Connection limits for authenticated users, see `CallerConnections`. High enough for many watches, because each HTTP/1.1 watch needs its
 * own connection.
 */
export const CALLER_CONNECTIONS = { total: 2000, perCaller: 1000 };

/**
 * Maximum number of connections of a listener. Leaves room for 1000 unauthenticated ones (`WaitingClients`), so that a user who has opened
 * as many connections as possible does not lock others out.
 */
export const MAX_CONNECTIONS = 2 * CALLER_CONNECTIONS.total + 1000;

/** Maximum number of connections waiting to be accepted. Same as the kernel's limit (net.core.somaxconn). */
export const LISTEN_BACKLOG = 4096;

/**
 * TCP options. Keep-alive detects clients that are gone, e.g. suspended laptops; it is needed because nothing is sent on a watch without
 * events.
 */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: 30_000, noDelay: true };

/** Limits for HTTP/1.1 connections. Receiving the body is limited by the request timeout. */
export const HTTP1_BOUNDS: ServerOptions = {
  ...KEEP_ALIVE,
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: MAX_HEADERS_MS,
  requestTimeout: 0,
  keepAliveTimeout: MAX_IDLE_MS,
  connectionsCheckingInterval: 5000,
};

/** Limits for HTTP/2 connections, over which a client multiplexes all of its watches. */
export const HTTP2_BOUNDS: SecureServerOptions = {
  settings: { maxConcurrentStreams: 1000, maxHeaderListSize: MAX_HEADER_BYTES, enablePush: false },
  // memory limit of a connection in MB, including unsent response data (at most one group of parts per stream, see `write-parts.ts`)
  maxSessionMemory: 64,
  maxSettings: 32,
  maxOutstandingPings: 10,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  // allows a burst of cancellations, because a restarting informer cancels all of its watches at once
  streamResetBurst: 1000,
  streamResetRate: 33,
  handshakeTimeout: MAX_HEADERS_MS,
  unknownProtocolTimeout: MAX_HEADERS_MS,
};
