/** The API server's serving certificate. Issued on every start and renewed while the server is running. */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { Timer } from '@podwright/base';
import type { CertificateAuthority, KeyPair } from './certificate-authority.ts';

const SERVICE = 'kubernetes';
const LIFE_MS = 365 * 86_400_000;
const RENEWAL_SHARE = 0.7;

/** Returns all names by which clients reach the server: those of its Service, the host's name and addresses, and `more`. */
export function servingNames(more: readonly string[]): string[] {
  const inCluster = ['', '.default', '.default.svc', '.default.svc.cluster.local'].map((part) => `${SERVICE}${part}`);
  const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
  const all = ['localhost', ...inCluster, hostname().toLowerCase(), '127.0.0.1', '::1', ...addresses, ...more];
  return [...new Set(all.map((name) => name.split('%')[0]!))].filter((name) => isIP(name) !== 0 || DNS_NAME.test(name));
}

const DNS_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

export type ServingCertificateParts = {
  authority: CertificateAuthority;
  /** Names for a certificate issued now. */
  names: () => readonly string[];
  /** Uses a new certificate for new connections. */
  replace: (pair: KeyPair) => void;
  lifeMs?: number;
};

/** Issues the serving certificate and replaces it before it expires, until disposed. */
export class ServingCertificates implements Disposable {
  readonly #parts: ServingCertificateParts;
  readonly #lifeMs: number;
  #timer: Timer | undefined;
  #expiresAtMs: number | undefined;

  constructor(parts: ServingCertificateParts) {
    this.#parts = parts;
    this.#lifeMs = parts.lifeMs ?? LIFE_MS;
  }

  /** Returns the first certificate. Renewed ones are passed to `replace`. */
  start(): KeyPair {
    this.#timer = new Timer(() => this.#parts.replace(this.start()), this.#lifeMs * RENEWAL_SHARE);
    const { authority, names } = this.#parts;
    const pair = authority.server(names(), this.#lifeMs);
    this.#expiresAtMs = new X509Certificate(pair.certificate).validToDate.getTime();
    return pair;
  }

  /** Expiry of the current certificate in Unix milliseconds; undefined before the start. */
  get expiresAtMs(): number | undefined {
    return this.#expiresAtMs;
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }
}
