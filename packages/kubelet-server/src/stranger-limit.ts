import type { Socket } from 'node:net';
import { RecentlyUsed } from '@podwright/base';
import { ALL_STRANGERS_RATE, KNOWN_CALLER_MS, MAX_CALLERS, STRANGER_RATE } from './limits.ts';

/** Both ends of a TCP connection. */
export type ConnectionEnds = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>;

/** Looks up the UID of the local process at the other end of a connection; `undefined` for other hosts. */
export type PeerUser = (ends: ConnectionEnds) => number | undefined;

export type StrangerLimitOptions = {
  peerUser?: PeerUser;
  /** A clock in ms. */
  now?: () => number;
};

/**
 * Limits the rate of new connections from callers without a recent authentication, so that authenticated callers are still served.
 * A caller is a user of this host (under any address), or an address of another host.
 */
export class StrangerLimit {
  readonly #peerUser: PeerUser | undefined;
  readonly #now: () => number;
  readonly #known = new RecentlyUsed<number>(MAX_CALLERS);
  readonly #strangers = new RecentlyUsed<Allowance>(MAX_CALLERS);
  readonly #all = new Allowance(ALL_STRANGERS_RATE);
  readonly #callers = new WeakMap<ConnectionEnds, string>();

  constructor({ peerUser, now = () => performance.now() }: StrangerLimitOptions) {
    this.#peerUser = peerUser;
    this.#now = now;
  }

  /** Whether a connection that has just been accepted may stay open. */
  allows(ends: ConnectionEnds): boolean {
    const caller = this.#callerOf(ends);
    const now = this.#now();
    const knownAtMs = this.#known.get(caller);
    if (knownAtMs !== undefined && now < knownAtMs + KNOWN_CALLER_MS) return true;
    const own = this.#strangers.get(caller) ?? new Allowance(STRANGER_RATE);
    this.#strangers.set(caller, own);
    return own.take(now) && this.#all.take(now);
  }

  /** Records that the caller on this socket is authenticated. */
  markAuthenticated(socket: ConnectionEnds): void {
    const caller = this.#callers.get(socket) ?? this.#callerOf(socket);
    this.#callers.set(socket, caller);
    // If a local client has closed its end, its user cannot be looked up: do not exempt all local users.
    if (caller === LOOPBACK && this.#peerUser !== undefined) return;
    this.#known.set(caller, this.#now());
  }

  #callerOf(ends: ConnectionEnds): string {
    const user = this.#peerUser?.(ends);
    return user === undefined ? networkOf(ends.remoteAddress ?? '') : `user ${user}`;
  }
}

const LOOPBACK = 'loopback';

/** The addresses of one host as a key: an IPv4 address, an IPv6 /64, or all of loopback. */
function networkOf(address: string): string {
  const ipv4 = address.replace(/^::ffff:(?=.*\.)/, '');
  if (ipv4.startsWith('127.') || address === '::1') return LOOPBACK;
  if (!ipv4.includes(':')) return ipv4;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  const zeros = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length;
  return [...groups, ...Array<string>(zeros).fill('0'), ...(tail ?? '').split(':')].slice(0, 4).join(':');
}

/** A token bucket, initially full. */
class Allowance {
  readonly #rate: { perSecond: number; burst: number };
  #tokens = 0;
  #filledAtMs = -Infinity;

  constructor(rate: { perSecond: number; burst: number }) {
    this.#rate = rate;
  }

  /** Takes a token if there is one. */
  take(now: number): boolean {
    const { perSecond, burst } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAtMs) * perSecond) / 1000);
    this.#filledAtMs = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
