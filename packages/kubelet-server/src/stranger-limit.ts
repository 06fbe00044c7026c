import type { Socket } from 'node:net';
import { RecentlyUsed } from '@podwright/base';
import { ALL_STRANGERS_RATE, KNOWN_CALLER_MS, MAX_CALLERS, STRANGER_RATE } from './limits.ts';

/** Both ends of a TCP connection. */
export type ConnectionEnds = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>;

/** Finds the id of the user of this host at the other end of a connection; `undefined` for other hosts. */
export type PeerUser = (ends: ConnectionEnds) => number | undefined;

export type StrangerLimitOptions = {
  peerUser?: PeerUser;
  /** A clock in ms. */
  now?: () => number;
};

/**
 * Limits how many connections a second callers open who have not been authenticated lately, so that the others are served meanwhile.
 * A caller is a user of this host, who has many addresses, or an address of another host.
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

  /** Whether a connection that has just been accepted may go on. */
  allows(ends: ConnectionEnds): boolean {
    const caller = this.#callerOf(ends);
    const now = this.#now();
    const knownAtMs = this.#known.get(caller);
    if (knownAtMs !== undefined && now < knownAtMs + KNOWN_CALLER_MS) return true;
    const own = this.#strangers.get(caller) ?? new Allowance(STRANGER_RATE);
    this.#strangers.set(caller, own);
    return own.take(now) && this.#all.take(now);
  }

  /** The caller on this socket is authenticated. */
  know(socket: ConnectionEnds): void {
    const caller = this.#callers.get(socket) ?? this.#callerOf(socket);
    this.#callers.set(socket, caller);
    // of users that cannot be told apart, as their ends are closed already, none is known
    if (caller === LOOPBACK && this.#peerUser !== undefined) return;
    this.#known.set(caller, this.#now());
  }

  #callerOf(ends: ConnectionEnds): string {
    const user = this.#peerUser?.(ends);
    return user === undefined ? networkOf(ends.remoteAddress ?? '') : `user ${user}`;
  }
}

const LOOPBACK = 'loopback';

/** What one host usually has of addresses: one of IPv4, a /64 of IPv6, and all of loopback. */
function networkOf(address: string): string {
  const ipv4 = address.replace(/^::ffff:(?=.*\.)/, '');
  if (ipv4.startsWith('127.') || address === '::1') return LOOPBACK;
  if (!ipv4.includes(':')) return ipv4;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  const zeros = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length;
  return [...groups, ...Array<string>(zeros).fill('0'), ...(tail ?? '').split(':')].slice(0, 4).join(':');
}

/** A bucket of tokens, full at first. */
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
