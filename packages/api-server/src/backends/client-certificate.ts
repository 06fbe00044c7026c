import type { CertificateAuthority, KeyPair } from '../certificates/certificate-authority.ts';
import type { Subject } from '../certificates/issue-certificate.ts';

const DAY_MS = 86_400_000;
const LIFE_MS = 30 * DAY_MS;
const RENEWED_BEFORE_MS = 10 * DAY_MS;

/** A client certificate for this server. It is issued on first use, renewed before it expires, and never written to disk. */
export class ClientCertificate {
  readonly #authority: Pick<CertificateAuthority, 'client'>;
  readonly #subject: Subject;
  readonly #now: () => number;
  #current: { pair: KeyPair; issuedAtMs: number } | undefined;

  constructor(authority: Pick<CertificateAuthority, 'client'>, subject: Subject, now: () => number) {
    this.#authority = authority;
    this.#subject = subject;
    this.#now = now;
  }

  pair(): KeyPair {
    const now = this.#now();
    const ageMs = now - (this.#current?.issuedAtMs ?? Number.NEGATIVE_INFINITY);
    // a negative age means that the clock was set back, possibly to a time at which the certificate is not valid yet, so it is replaced as
    // well
    if (this.#current === undefined || ageMs < 0 || ageMs >= LIFE_MS - RENEWED_BEFORE_MS)
      this.#current = { pair: this.#authority.client(this.#subject, LIFE_MS), issuedAtMs: now };
    return this.#current.pair;
  }
}
