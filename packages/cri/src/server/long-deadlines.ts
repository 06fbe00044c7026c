import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** Where node:http2 shows the headers of a call before grpc-js reads them (https://nodejs.org/api/diagnostics_channel.html). */
const STREAM_CREATED = 'http2.server.stream.created';

/** The units of the `grpc-timeout` header, in ms. */
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 };

/** Timers of Node.js, and the 32-bit integers in which grpc-js counts, end here: 24.8 days. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const LONGEST_TIMEOUT = `${Math.floor(MAX_TIMEOUT_MS / UNIT_MS.H!)}H`;

/**
 * Shortens deadlines of more than 24.8 days to that, until the result is called. grpc-js overflows there and ends such calls at
 * once, so that a container with a grace period of a month could not be stopped.
 */
export function clampLongDeadlines(): () => void {
  subscribe(STREAM_CREATED, clamp);
  return () => void unsubscribe(STREAM_CREATED, clamp);
}

function clamp(message: unknown): void {
  const { headers } = message as { headers: Record<string, unknown> };
  if (isTooLong(headers['grpc-timeout'])) headers['grpc-timeout'] = LONGEST_TIMEOUT;
}

function isTooLong(header: unknown): boolean {
  const match = /^(\d{1,8})\s*([HMSmun])$/.exec(String(header));
  return match !== null && Number(match[1]) * UNIT_MS[match[2]!]! > MAX_TIMEOUT_MS;
}
