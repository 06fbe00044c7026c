import { randomBytes } from 'node:crypto';
import { RecentlyUsed } from '@podwright/base';
import { lowered } from '../wire/names.ts';
import { CLASS_IN, TYPE } from '../wire/numbers.ts';
import type { Question } from '../wire/read-query.ts';
import type { ForwardedQuestion } from './exchange.ts';
import { LOOP_MS, MAX_RESOLVERS } from './limits.ts';
import type { Resolver } from './resolvers.ts';

/**
 * Detects forwarding loops by asking each resolver for a random name: if that question arrives at this server, the resolver forwards to it.
 */
export class LoopProbes {
  readonly #onLoop: (resolver: Resolver) => void;
  readonly #resolvers = new Map<string, Resolver>();
  /** When each resolver may be probed again, by address. */
  readonly #nextMs = new RecentlyUsed<number>(4 * MAX_RESOLVERS);

  constructor(onLoop: (resolver: Resolver) => void) {
    this.#onLoop = onLoop;
  }

  /**
   * Returns a probe question for the resolver, or `undefined` if it was probed recently. Like CoreDNS's `loop` plugin, it queries HINFO.
   */
  next(resolver: Resolver): ForwardedQuestion | undefined {
    const now = performance.now();
    if ((this.#nextMs.get(resolver.address) ?? 0) > now) return undefined;
    this.#nextMs.set(resolver.address, now + LOOP_MS);
    const name = `${randomBytes(10).toString('hex')}.loop-probe`;
    this.#resolvers.set(name, resolver);
    return { name, type: TYPE.HINFO, class: CLASS_IN, dnssecOk: false, checkingDisabled: false };
  }

  /** Whether a client's question is a probe created by `next` that a resolver has forwarded back. */
  isProbe({ name }: Question): boolean {
    const resolver = this.#resolvers.get(lowered(name));
    if (resolver === undefined) return false;
    this.#onLoop(resolver);
    return true;
  }

  done({ name }: Question): void {
    this.#resolvers.delete(name);
  }
}
