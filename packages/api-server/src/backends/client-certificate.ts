import type { CertificateAuthority, KeyPair } from '../certificates/certificate-authority.ts';
import type { Subject } from '../certificates/issue-certificate.ts';

const DAY_MS = 86_400_000;
const LIFE_MS = 30 * DAY_MS;
const RENEWED_BEFORE_MS = 10 * DAY_MS;

/** A certificate of this server as a client. It is issued on its first use, renewed in time, and only in memory. */
export class ClientCertificate {
  readonly #authority: Pick<CertificateAuthority, 'client'>;
  readonly #subject: Subject;
  readonly #now: () => number;
  #current: { pair: KeyPair; renewAtMs: number } | undefined;

  constructor(authority: Pick<CertificateAuthority, 'client'>, subject: Subject, now: () => number) {
    this.#authority = authority;
    this.#subject = subject;
    this.#now = now;
  }

  pair(): KeyPair {
    const now = this.#now();
    if (this.#current === undefined || now >= this.#current.renewAtMs)
      this.#current = {
        pair: this.#authority.client(this.#subject, LIFE_MS),
        renewAtMs: now + LIFE_MS - RENEWED_BEFORE_MS,
      };
    return this.#current.pair;
  }
}
