import { isIP } from 'node:net';
import type { z } from 'zod';

/** Where a TCP server listens; port 0 is any free one. */
export type ListenAddress = { host: string; port: number };

const LOOPBACK = '127.0.0.1';
const MAX_PORT = 65_535;

/**
 * Reads `9464`, which is on loopback, `192.0.2.1:9464` or `[2001:db8::1]:9464`, as a transform of a schema. A host must be given by
 * address, and `:9464` is refused: other programs take it for all addresses.
 */
export function parseListenAddress(text: string, context: z.RefinementCtx): ListenAddress {
  const match = /^(?:(?:\[([^\]]*)\]|([^:]*)):)?(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2] ?? LOOPBACK;
  const port = Number(match?.[3]);
  const isAddress = isIP(host) === (match?.[1] === undefined ? 4 : 6);
  if (!isAddress || !(port <= MAX_PORT)) {
    context.addIssue(
      'must be a port for loopback, or an IP address and a port: "9464", "192.0.2.1:9464", "[::1]:9464"',
    );
  }
  return { host, port };
}
