import { randomInt } from 'node:crypto';

const FIRST = 30_000;
const LAST = 32_767;
/**
 * Ports at the start of the range are not assigned automatically, so that they remain available to services that request specific ones, as
 * in upstream.
 */
const RESERVED = 86;
const RANDOM_TRIES = 100;

export const PORT_RANGE = `${FIRST}-${LAST}`;

export const isNodePort = (port: number): boolean => port >= FIRST && port <= LAST;

/** Returns a free node port, or `undefined` if there is none. */
export function chooseNodePort(isTaken: (port: number) => boolean): number | undefined {
  for (let tries = 0; tries < RANDOM_TRIES; tries++) {
    const port = randomInt(FIRST + RESERVED, LAST + 1);
    if (!isTaken(port)) return port;
  }
  for (let port = LAST; port >= FIRST; port--) if (!isTaken(port)) return port;
  return undefined;
}
