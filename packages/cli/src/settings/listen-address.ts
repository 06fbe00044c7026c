import { isIP } from 'node:net';
import { PodwrightError } from '@podwright/base';
import type { z } from 'zod';

/** The address for a TCP server to listen on. Port 0 selects any free port. */
export type ListenAddress = { host: string; port: number };

const LOOPBACK = '127.0.0.1';
const MAX_PORT = 65_535;

/**
 * Parses `9464` (on loopback), `192.0.2.1:9464` or `[2001:db8::1]:9464`, for use as a zod transform. The host must be an IP address.
 * `:9464` is rejected, because other programs take it to mean all addresses.
 */
export function parseListenAddress(text: string, context: z.RefinementCtx): ListenAddress {
  const { address, isValid } = readAddress(text);
  if (!isValid) context.addIssue(PROBLEM);
  return address;
}

/** Parses an address given as a command option. Throws `invalid_argument` if it is invalid. */
export function addressOf(text: string): ListenAddress {
  const { address, isValid } = readAddress(text);
  if (!isValid) throw new PodwrightError('invalid_argument', `the address ${JSON.stringify(text)} ${PROBLEM}`);
  return address;
}

const PROBLEM = 'must be a port for loopback, or an IP address and a port: "9464", "192.0.2.1:9464", "[::1]:9464"';

function readAddress(text: string): { address: ListenAddress; isValid: boolean } {
  const match = /^(?:(?:\[([^\]]*)\]|([^:]*)):)?(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2] ?? LOOPBACK;
  const port = Number(match?.[3]);
  const isAddress = isIP(host) === (match?.[1] === undefined ? 4 : 6);
  return { address: { host, port }, isValid: isAddress && port <= MAX_PORT };
}
