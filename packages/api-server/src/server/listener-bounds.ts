import type { ServerOptions } from 'node:http';
import type { SecureServerOptions } from 'node:http2';

const MAX_HEADER_BYTES = 64 << 10;

/** A client must send the headers of a request, and complete a TLS handshake, in this time. */
const MAX_HEADERS_MS = 10_000;

/** Slightly longer than clients of client-go keep idle connections. */
export const MAX_IDLE_MS = 120_000;

/** A connection over TLS is closed if no request on it has been authenticated in this time. */
export const MAX_UNAUTHENTICATED_MS = 20_000;

/** Each watch over HTTP/1.1 needs a connection. */
export const MAX_CONNECTIONS = 4000;

/** Detects clients that have vanished, such as a laptop that sleeps: a watch without events sends nothing. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: 30_000, noDelay: true };

/** Bounds of HTTP/1.1 connections. The time to send a body is bounded by the time of the request. */
export const HTTP1_BOUNDS: ServerOptions = {
  ...KEEP_ALIVE,
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: MAX_HEADERS_MS,
  requestTimeout: 0,
  keepAliveTimeout: MAX_IDLE_MS,
  connectionsCheckingInterval: 5000,
};

/** Bounds of HTTP/2 connections. Clients multiplex all their watches on one connection. */
export const HTTP2_BOUNDS: SecureServerOptions = {
  settings: { maxConcurrentStreams: 1000, maxHeaderListSize: MAX_HEADER_BYTES, enablePush: false },
  // megabytes; includes unsent parts of responses, of which each stream has at most a group (`write-parts.ts`)
  maxSessionMemory: 64,
  maxSettings: 32,
  maxOutstandingPings: 10,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  // informers that restart cancel their watches at once
  streamResetBurst: 1000,
  streamResetRate: 33,
  handshakeTimeout: MAX_HEADERS_MS,
  unknownProtocolTimeout: MAX_HEADERS_MS,
};
