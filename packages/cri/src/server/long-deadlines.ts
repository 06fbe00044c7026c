import type { EventEmitter } from 'node:events';
import type { Server } from '@grpc/grpc-js';

/** Timers of Node.js, and the 32-bit integers in which grpc-js counts, end here: 24.8 days. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** The units of the `grpc-timeout` header, in ms. */
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 };

/**
 * Lets calls have deadlines of more than 24.8 days, by having none. grpc-js overflows there and ends such calls at
 * once, so that a container with a grace period of a month could not be stopped. It has no public way to see a
 * header before it does; its http2 servers are reached by their private name. To be called once they are all made.
 */
export function allowLongDeadlines(server: Server): void {
  const http2Servers = Reflect.get(server, 'http2Servers') as Map<EventEmitter, unknown>;
  for (const http2Server of http2Servers.keys()) {
    http2Server.prependListener('stream', (_stream: unknown, headers: Record<string, unknown>) => {
      if (isTooLong(headers['grpc-timeout'])) delete headers['grpc-timeout'];
    });
  }
}

function isTooLong(header: unknown): boolean {
  const match = /^(\d{1,8})\s*([HMSmun])$/.exec(String(header));
  return match !== null && Number(match[1]) * UNIT_MS[match[2]!]! > MAX_TIMEOUT_MS;
}
