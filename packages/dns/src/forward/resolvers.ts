import { isIP } from 'node:net';
import { errorMessage, type Logger } from '@podwright/base';
import { readPodResolvConf } from '@podwright/host';
import { addressKey } from '../wire/addresses.ts';
import { LOOP_MS, MAX_RESOLVERS, REREAD_MS, SHUN_MS } from './limits.ts';

/** The address and port of a DNS server. */
export type Endpoint = { address: string; port: number };

/** A resolver. Times refer to the monotonic clock. */
export type Resolver = Endpoint & { failedUntilMs: number; loopsUntilMs: number };

export type ResolversOptions = {
  /** Path of a resolv.conf(5), which may be changed or replaced at any time. */
  path: string;
  /** This server's endpoints, which are never used as resolvers. */
  own: readonly Endpoint[];
  logger: Logger;
  /** Called for each resolver that has been added to resolv.conf. */
  onNew: (resolver: Resolver) => void;
  /** The resolvers' port, for tests. */
  resolverPort?: number;
};

/** The resolvers in a resolv.conf, which is reread while names are being forwarded. */
export class Resolvers {
  readonly #options: ResolversOptions;
  #known: Resolver[] = [];
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(options: ResolversOptions) {
    this.#options = options;
  }

  /** Returns the resolvers in the order in which to ask them, excluding those that forward back to this server. */
  async usable(): Promise<Resolver[]> {
    if (performance.now() - this.#readAtMs > REREAD_MS) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    const now = performance.now();
    const working = this.#known.filter(({ loopsUntilMs }) => loopsUntilMs <= now);
    return working.toSorted((a, b) => Number(a.failedUntilMs > now) - Number(b.failedUntilMs > now));
  }

  /** Records that a resolver did not respond. */
  failed(resolver: Resolver, error: unknown): void {
    const now = performance.now();
    if (resolver.failedUntilMs <= now)
      this.#options.logger.warn({ resolver: resolver.address, error: errorMessage(error) }, 'a resolver failed');
    resolver.failedUntilMs = now + SHUN_MS;
  }

  answered(resolver: Resolver): void {
    resolver.failedUntilMs = 0;
  }

  /** Records that a resolver forwards queries back to this server. */
  loops(resolver: Resolver): void {
    const now = performance.now();
    if (resolver.loopsUntilMs > now) return;
    resolver.loopsUntilMs = now + LOOP_MS;
    this.#options.logger.error(
      { resolver: resolver.address, path: this.#options.path },
      'a resolver forwards to this DNS server: it is not asked',
    );
  }

  async #read(): Promise<void> {
    const { path, own, logger, onNew, resolverPort = 53 } = this.#options;
    try {
      const addresses = nameservers(await readPodResolvConf(path));
      const endpoints = addresses.map((address) => ({ address, port: resolverPort }));
      const known = new Map(this.#known.map((resolver) => [resolver.address, resolver]));
      const others = endpoints.filter((endpoint) => !own.some((one) => isSame(one, endpoint)));
      this.#known = others.map(
        (endpoint) => known.get(endpoint.address) ?? { ...endpoint, failedUntilMs: 0, loopsUntilMs: 0 },
      );
      for (const resolver of this.#known) if (!known.has(resolver.address)) onNew(resolver);
    } catch (error) {
      logger.warn({ path, error: errorMessage(error) }, 'read the resolvers failed, keeping the known ones');
    }
    this.#readAtMs = performance.now();
  }
}

const isSame = (a: Endpoint, b: Endpoint): boolean =>
  a.port === b.port && addressKey(a.address) === addressKey(b.address);

/** Returns the servers in a resolv.conf(5), in order and without duplicates. */
export function nameservers(text: string): string[] {
  const servers = [...text.matchAll(/^\s*nameserver\s+([^\s#;]+)/gm)].map(([, server]) => server!);
  return [...new Set(servers.filter((server) => isIP(server) !== 0))].slice(0, MAX_RESOLVERS);
}
