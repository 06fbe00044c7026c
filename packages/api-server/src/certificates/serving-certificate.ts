/** The API server's serving certificate. Issued on every start and renewed while the server is running. */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import type { CertificateAuthority, KeyPair } from './certificate-authority.ts';

const SERVICE = 'kubernetes';
const RENEWAL_SHARE = 0.7;

/** Returns all names that clients use to reach the server: those of its Service, the host's name and addresses, and `more`. */
export function servingNames(more: readonly string[]): string[] {
  const inCluster = ['', '.default', '.default.svc', '.default.svc.cluster.local'].map((part) => `${SERVICE}${part}`);
  const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
  const all = ['localhost', ...inCluster, hostname().toLowerCase(), '127.0.0.1', '::1', ...addresses, ...more];
  return [...new Set(all.map((name) => name.split('%')[0]!))].filter((name) => isIP(name) !== 0 || DNS_NAME.test(name));
}

const DNS_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
/**
 * Matches link-local IPv6 addresses. If one is missing in the certificate, that alone does not cause a renewal: every pod may add an
 * interface with one, and clients cannot use them without a zone.
 */
const LINK_LOCAL = /^fe[89ab][\da-f]:/i;

export type ServingCertificateParts = {
  authority: CertificateAuthority;
  /** Returns the names that a certificate issued now should contain. */
  names: () => readonly string[];
  /** Makes the listeners use a new certificate for new connections. */
  replace: (pair: KeyPair) => void;
  /** Returns the current Unix time in milliseconds. */
  now: () => number;
};

/**
 * Issues the serving certificate and replaces it while the server runs: before it expires, if the host gets another address, or if the
 * system time is set to a time outside its validity period. Hosts without a battery-backed clock only get the correct time after a while.
 */
export class ServingCertificates {
  readonly #parts: ServingCertificateParts;
  #valid: { fromMs: number; toMs: number } | undefined;
  #names: ReadonlySet<string> = new Set();

  constructor(parts: ServingCertificateParts) {
    this.#parts = parts;
  }

  /** Returns the first certificate. Renewed ones are passed to `replace`. */
  start(): KeyPair {
    const { authority, names } = this.#parts;
    const wanted = names();
    const pair = authority.server(wanted);
    this.#names = new Set(wanted);
    const { validFromDate, validToDate } = new X509Certificate(pair.certificate);
    this.#valid = { fromMs: validFromDate.getTime(), toMs: validToDate.getTime() };
    return pair;
  }

  /** Replaces the certificate if necessary. Must be called before each handshake. */
  check(): void {
    if (this.#valid === undefined) return;
    const nowMs = this.#parts.now();
    const { fromMs, toMs } = this.#valid;
    const isFresh = fromMs <= nowMs && nowMs < fromMs + (toMs - fromMs) * RENEWAL_SHARE;
    const isComplete = this.#parts.names().every((name) => this.#names.has(name) || LINK_LOCAL.test(name));
    if (!isFresh || !isComplete) this.#parts.replace(this.start());
  }

  /** When the current certificate expires, in Unix milliseconds; undefined until the first one is issued. */
  get expiresAtMs(): number | undefined {
    return this.#valid?.toMs;
  }
}
