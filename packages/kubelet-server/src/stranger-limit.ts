import type { Socket } from 'node:net';
import { RecentlyUsed } from '@podwright/base';
import { KnownCallers } from './known-callers.ts';
import { ALL_STRANGERS_RATE, MAX_CALLERS, NETWORK_STRANGERS_RATE, NEWCOMERS_RATE, STRANGER_RATE } from './limits.ts';

/** The two endpoints of a TCP connection. */
export type ConnectionEnds = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>;

/** Looks up the UID of the process at the other end of a local connection. Returns `undefined` if the other end is on another host. */
export type PeerUser = (ends: ConnectionEnds) => number | undefined;

export type StrangerLimitOptions = {
  peerUser?: PeerUser;
  callers?: KnownCallers;
  /** A monotonic clock, in milliseconds. */
  now?: () => number;
};

/**
 * Limits the rate of new connections from callers without a recent authentication (strangers), so that authenticated callers can still be
 * served. A caller is either a user on this host, whatever its address, or an address of another host. Local and remote strangers have
 * separate limits. Callers that were authenticated within the last hour are not limited. Root, and callers that were authenticated within
 * the last month, have a limit of their own.
 */
export class StrangerLimit {
  readonly #peerUser: PeerUser | undefined;
  readonly #now: () => number;
  readonly #known: KnownCallers;
  readonly #formers = new RecentlyUsed<Allowance>(MAX_CALLERS);
  readonly #local = new Strangers();
  readonly #remote = new Strangers();
  readonly #callers = new WeakMap<ConnectionEnds, string>();

  constructor({ peerUser, now = () => performance.now(), callers = new KnownCallers({ now }) }: StrangerLimitOptions) {
    this.#peerUser = peerUser;
    this.#now = now;
    this.#known = callers;
  }

  /** Whether a connection that was just accepted may stay open. */
  allows(ends: ConnectionEnds): boolean {
    const caller = this.#callerOf(ends);
    const now = this.#now();
    const acquaintance = this.#known.acquaintance(caller);
    if (acquaintance === 'known') return true;
    if (acquaintance === 'former' || caller === ROOT)
      return allowanceOf(this.#formers, caller, STRANGER_RATE).take(now);
    if (isLocal(caller)) return this.#local.allow({ caller }, now);
    return this.#remote.allow({ caller, network: networkOf(caller) }, now);
  }

  /** Records that the caller on this connection has been authenticated. */
  markAuthenticated(socket: ConnectionEnds): void {
    const caller = this.#callers.get(socket) ?? this.#callerOf(socket);
    this.#callers.set(socket, caller);
    // A local client that has closed its end belongs to an unknown user and is counted under a key shared by all of them. Do not exempt
    // that key: it would exempt all local users.
    if (caller === LOOPBACK && this.#peerUser !== undefined) return;
    this.#known.add(caller);
  }

  #callerOf(ends: ConnectionEnds): string {
    const user = this.#peerUser?.(ends);
    if (user !== undefined) return USER + user;
    // if both addresses are equal, this is a local client that has closed its end and had connected to a non-loopback address of this host
    return ends.remoteAddress === ends.localAddress ? LOOPBACK : hostOf(ends.remoteAddress ?? '');
  }
}

/**
 * All local or all remote strangers, with their rate limits: for each caller, for each network, for callers not seen before, and for all of
 * them together.
 */
class Strangers {
  readonly #callers = new RecentlyUsed<Allowance>(MAX_CALLERS);
  readonly #networks = new RecentlyUsed<Allowance>(MAX_CALLERS);
  readonly #newcomers = new Allowance(NEWCOMERS_RATE);
  readonly #all = new Allowance(ALL_STRANGERS_RATE);

  allow({ caller, network }: { caller: string; network?: string }, now: number): boolean {
    const isNew = this.#callers.get(caller) === undefined;
    if (!allowanceOf(this.#callers, caller, STRANGER_RATE).take(now)) return false;
    if (isNew && this.#newcomers.take(now)) return true;
    if (network !== undefined && !allowanceOf(this.#networks, network, NETWORK_STRANGERS_RATE).take(now)) return false;
    return this.#all.take(now);
  }
}

function allowanceOf(allowances: RecentlyUsed<Allowance>, key: string, rate: Rate): Allowance {
  const allowance = allowances.get(key) ?? new Allowance(rate);
  allowances.set(key, allowance);
  return allowance;
}

const USER = 'user ';
const ROOT = `${USER}0`;
const LOOPBACK = 'loopback';
const isLocal = (caller: string) => caller === LOOPBACK || caller.startsWith(USER);

/** Returns a map key for the network that a remote host belongs to: an IPv4 /24 or an IPv6 /48. */
const networkOf = (host: string): string =>
  host.includes(':') ? host.split(':').slice(0, 3).join(':') : host.split('.').slice(0, 3).join('.');

/**
 * Returns a map key for a host, which may cover several addresses: an IPv4 address, an IPv6 /64, or a single key for all loopback
 * addresses.
 */
function hostOf(address: string): string {
  const ipv4 = address.replace(/^::ffff:(?=.*\.)/, '');
  if (ipv4.startsWith('127.') || address === '::1') return LOOPBACK;
  if (!ipv4.includes(':')) return ipv4;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  const zeros = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length;
  return [...groups, ...Array<string>(zeros).fill('0'), ...(tail ?? '').split(':')].slice(0, 4).join(':');
}

type Rate = { perSecond: number; burst: number };

/** A token bucket that is initially full. */
class Allowance {
  readonly #rate: Rate;
  #tokens = 0;
  #filledAtMs = -Infinity;

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** Takes a token. Returns false if the bucket is empty. */
  take(now: number): boolean {
    const { perSecond, burst } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAtMs) * perSecond) / 1000);
    this.#filledAtMs = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
