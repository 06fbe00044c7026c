import type { LookupAddress, LookupOptions } from 'node:dns';
import { readFileSync, statSync } from 'node:fs';
import { isIP, type LookupFunction } from 'node:net';
import { Limiter } from './keyed-lock.ts';

/** How long a lookup can wait for its turn before it fails. Each lookup can take many seconds if the name servers do not respond. */
const QUEUE_TIMEOUT_MS = 10_000;

const HOSTS = '/etc/hosts';
const LOOPBACK = ['::1', '127.0.0.1'];

type Resolve = (name: string, options: LookupOptions) => Promise<LookupAddress[]>;

export type HostLookupOptions = {
  hosts?: string;
  resolve?: Resolve;
  queueTimeoutMs?: number;
};

/**
 * Resolves host names for connections; pass its `lookup` as the connection's `lookup` option. `localhost` and names in /etc/hosts are
 * resolved on this thread. Other names require getaddrinfo(3), which blocks a thread of libuv's pool until the name servers respond. They
 * are therefore looked up one at a time, and lookups that wait too long fail.
 */
export class HostLookup {
  readonly #resolve: Resolve;
  readonly #hosts: HostsFile;
  readonly #queueTimeoutMs: number;
  readonly #turns = new Limiter(1);
  /**
   * Lookups in progress, by name and options. A client that repeats a slow lookup joins the one in progress, so it occupies only one turn.
   */
  readonly #running = new Map<string, Promise<LookupAddress[]>>();

  constructor({ hosts = HOSTS, resolve = getAddresses, queueTimeoutMs = QUEUE_TIMEOUT_MS }: HostLookupOptions = {}) {
    this.#hosts = new HostsFile(hosts);
    this.#resolve = resolve;
    this.#queueTimeoutMs = queueTimeoutMs;
  }

  /** Resolves a name like `dns.lookup`, with the same signature. */
  readonly lookup: LookupFunction = (name, options, callback) => {
    this.addresses(name, options).then(
      (found) => (options.all ? callback(null, found) : callback(null, found[0]!.address, found[0]!.family)),
      (error) => callback(error, ''),
    );
  };

  /** Returns all addresses of a host name (at least one). Rejects with a getaddrinfo(3) error. */
  async addresses(name: string, options: LookupOptions = {}): Promise<LookupAddress[]> {
    const family = Number(String(options.family ?? 0).replace('IPv', ''));
    const known = isIP(name) === 0 ? this.#hosts.addressesOf(name) : [name];
    const fitting = known
      .map((address) => ({ address, family: isIP(address) }))
      .filter((one) => family === 0 || one.family === family);
    if (fitting.length > 0) return fitting;
    const key = JSON.stringify([name, options]);
    const running = this.#running.get(key) ?? this.#inTurn(name, options).finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return await running;
  }

  async #inTurn(name: string, options: LookupOptions): Promise<LookupAddress[]> {
    const late = Object.assign(new Error(`getaddrinfo EAI_AGAIN ${name}: lookups of other names take too long`), {
      code: 'EAI_AGAIN',
    });
    const waiting = new AbortController();
    const timer = setTimeout(() => waiting.abort(late), this.#queueTimeoutMs);
    return await this.#turns.run(() => {
      clearTimeout(timer);
      return this.#resolve(name, options);
    }, waiting.signal);
  }
}

/** Names and addresses in /etc/hosts (hosts(5)), reloaded when the file changes. */
class HostsFile {
  readonly #path: string;
  #version = '';
  #addresses = new Map<string, string[]>();

  constructor(path: string) {
    this.#path = path;
  }

  addressesOf(name: string): string[] {
    this.#update();
    const key = name.toLowerCase();
    return this.#addresses.get(key) ?? (key === 'localhost' ? LOOPBACK : []);
  }

  #update(): void {
    try {
      const { ino, mtimeMs, size } = statSync(this.#path);
      const version = `${ino} ${mtimeMs} ${size}`;
      if (version === this.#version) return;
      this.#addresses = parseHosts(readFileSync(this.#path, 'utf8'));
      this.#version = version;
    } catch {
      this.#version = ''; // without a readable file, names are resolved as if it were empty
      this.#addresses = new Map();
    }
  }
}

function parseHosts(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names.map((one) => one.toLowerCase())) found.set(name, [...(found.get(name) ?? []), address]);
  }
  return found;
}

/** Loads `node:dns` lazily, because most commands do not resolve names. */
async function getAddresses(name: string, options: LookupOptions): Promise<LookupAddress[]> {
  return await process.getBuiltinModule('node:dns/promises').lookup(name, { ...options, all: true });
}

/*
 * Each kind of caller has a queue of its own. libuv serves the queues in turn, so a name that cannot be resolved delays the lookups of the
 * other kinds by one lookup at most.
 */

/** Lookups for pods' probes and lifecycle hooks. */
export const probeLookups: HostLookup = new HostLookup();

/** Lookups for image pulls. */
export const registryLookups: HostLookup = new HostLookup();

/** Lookups for the node itself, such as the API server's address. */
export const nodeLookups: HostLookup = new HostLookup();
