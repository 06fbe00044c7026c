import { createPrivateKey } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Backoff, errorCode, errorMessage, type Logger, PodwrightError, sleep, withTimeout } from '@podwright/base';
import type { KubeClient } from '@podwright/kube-client';
import { type CertificatePair, readPair, satisfies } from './certificate-pair.ts';
import { type CertificateSubject, certificateRequest } from './certificate-request.ts';
import type { CertificateStore, StoredPair } from './certificate-store.ts';
import { CERTIFICATE_TIMEOUT_MS, RENEWAL_BACKOFF, RENEWAL_WAIT_MS } from './limits.ts';
import { type PendingRequest, PendingRequestFile } from './pending-request.ts';
import { isDue, renewalMs } from './renewal-time.ts';
import { awaitCertificate, createSigningRequest, isOpen, type SignerName } from './signing-request.ts';

export type CertificateRenewalParts = {
  store: CertificateStore;
  signer: SignerName;
  /** Returns the desired subject, which can change over time; `undefined` while it cannot be determined or no certificate is wanted. */
  subject: () => CertificateSubject | undefined;
  /**
   * Returns the client for creating certificate requests. `hasValid` is true if it can authenticate with the current certificate, and false
   * if it needs other credentials.
   */
  client: (hasValid: boolean) => KubeClient | Promise<KubeClient>;
  /** Called with each renewed certificate after it has been stored. */
  onRenewed: (pair: StoredPair) => Promise<void> | void;
  /** Called after each failed attempt to renew the certificate. */
  onFailure?: () => void;
  logger: Logger;
};

/**
 * Keeps a cluster-signed certificate up to date. Requests a new one if there is none, if the subject has changed, or after 70 to 90 % of
 * its lifetime. Failed attempts are retried with a back-off of 2, 4, 8, … 32 s. The key and name of the pending request are stored, so a
 * killed kubelet leaves at most one unused request behind.
 */
export class CertificateRenewal {
  readonly #parts: CertificateRenewalParts;
  readonly #pending: PendingRequestFile;
  readonly #backoff = new Backoff(RENEWAL_BACKOFF);
  readonly #stopped = new AbortController();
  #current: StoredPair | undefined;
  #renewAtMs = 0;
  #problem: string | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: CertificateRenewalParts) {
    this.#parts = parts;
    this.#pending = new PendingRequestFile(parts.store.pendingPath);
  }

  /** Loads the stored certificate and starts renewing it in the background until `stop` is called. */
  async start(): Promise<void> {
    this.#take(await this.#parts.store.current());
    this.#running = this.#run(this.#stopped.signal).catch(() => undefined); // `stop` has aborted it
  }

  async stop(): Promise<void> {
    this.#stopped.abort(new PodwrightError('cancelled', 'the kubelet is being closed'));
    await this.#running;
  }

  /** Returns the current certificate, or `undefined` if there is none or it has expired. */
  current(): StoredPair | undefined {
    return this.#current !== undefined && Date.now() <= this.#current.notAfterMs ? this.#current : undefined;
  }

  /** When the current certificate expires, in Unix milliseconds; `undefined` if there is none. */
  get expiresAtMs(): number | undefined {
    return this.#current?.notAfterMs;
  }

  /** Returns why the last attempt to renew the certificate failed; `undefined` if it succeeded. */
  problem(): string | undefined {
    return this.#problem;
  }

  #take(pair: StoredPair | undefined): void {
    this.#current = pair;
    this.#renewAtMs = pair === undefined ? 0 : renewalMs(pair, Math.random());
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (;;) {
      const wanted = this.#parts.subject();
      const isNeeded =
        wanted !== undefined && isDue(this.#current, wanted, { renewAtMs: this.#renewAtMs, nowMs: Date.now() });
      if (isNeeded) await this.#renew(wanted, signal);
      await sleep(RENEWAL_WAIT_MS, signal); // wait after a renewal, too: the new certificate may be due at once
    }
  }

  /** Makes a single attempt to renew the certificate; if it fails, waits out the back-off before returning. */
  async #renew(wanted: CertificateSubject, signal: AbortSignal): Promise<void> {
    const { logger, signer, onRenewed, onFailure } = this.#parts;
    try {
      using deadline = withTimeout(signal, CERTIFICATE_TIMEOUT_MS, 'wait for a certificate to be approved and signed');
      using wait = this.#whileCurrent(wanted, deadline);
      this.#take(await this.#obtain(wanted, wait));
      this.#backoff.forget(signer);
      this.#problem = undefined;
      logger.info(
        { signer, notAfter: dateOf(this.#current?.notAfterMs) },
        'received a new certificate from the cluster',
      );
      await onRenewed(this.#current!);
    } catch (error) {
      if (signal.aborted) throw error;
      if (error === SUBJECT_CHANGED || error === RAN_OUT) return;
      this.#problem = `${errorMessage(error)}${this.#expiryWords()}`;
      logger.error({ signer, error: this.#problem }, 'cannot get a certificate from the cluster');
      onFailure?.();
      await sleep(this.#backoff.next(signer) * (1 + 0.1 * Math.random()), signal);
    }
  }

  #expiryWords(): string {
    if (this.#current === undefined || this.current() !== undefined) return '';
    return `; the current one ran out on ${dateOf(this.#current.notAfterMs)}`;
  }

  async #obtain(wanted: CertificateSubject, signal: AbortSignal): Promise<StoredPair> {
    const { store, client: clientFor, logger } = this.#parts;
    const client = await clientFor(this.current() !== undefined);
    const pending = await this.#pending.open(wanted);
    const request = await this.#findOrCreateRequest(client, { wanted, pending }, signal);
    logger.info({ csr: request.name }, 'waiting for a certificate signing request to be approved and signed');
    try {
      const certificate = await awaitCertificate(client, request, { signal, logger });
      const pair = { certificate, key: pending.key };
      checkIssued(pair, wanted);
      const stored = await store.update(pair);
      await this.#pending.remove();
      return stored;
    } catch (error) {
      // retrying this certificate request would fail the same way, so the next attempt creates a new one with a new key
      if (isFinal(error)) await this.#pending.remove();
      throw error;
    }
  }

  async #findOrCreateRequest(
    client: KubeClient,
    { wanted, pending }: { wanted: CertificateSubject; pending: PendingRequest },
    signal: AbortSignal,
  ): Promise<{ name: string; uid: string }> {
    const { key, asked: before } = pending;
    if (before !== undefined && (await isOpen(client, before, signal))) return before;
    const request = certificateRequest(wanted, createPrivateKey(key));
    const { signer } = this.#parts;
    const byToken = signer === 'kubernetes.io/kube-apiserver-client-kubelet' && this.current() === undefined;
    const created = await createSigningRequest(client, { request, signer, byToken }, signal);
    await this.#pending.write(wanted, { key, asked: created });
    return created;
  }

  /**
   * Returns a signal that also aborts when the current client should stop waiting for the pending request: if the wanted subject changes,
   * because a different certificate is then needed (a node's addresses might change while its request awaits approval), or if the client's
   * own certificate expires, because another client must then wait.
   */
  #whileCurrent(wanted: CertificateSubject, signal: AbortSignal): AbortSignal & Disposable {
    const changed = new AbortController();
    const wasValid = this.current() !== undefined;
    const timer = setInterval(() => {
      const now = this.#parts.subject();
      if (now !== undefined && !isDeepStrictEqual(now, wanted)) changed.abort(SUBJECT_CHANGED);
      if (wasValid && this.current() === undefined) changed.abort(RAN_OUT);
    }, RENEWAL_WAIT_MS);
    return Object.assign(AbortSignal.any([signal, changed.signal]), { [Symbol.dispose]: () => clearInterval(timer) });
  }
}

/** Rejects an unusable certificate. Accepting it would trigger new requests in a tight loop. */
function checkIssued(pair: CertificatePair, wanted: CertificateSubject): void {
  const what = 'take the certificate that the cluster signed';
  const facts = readPair(what, pair);
  if (!satisfies(facts, wanted))
    throw new PodwrightError('invalid_argument', `${what}: it is not for ${wanted.commonName} with all its names`);
  if (facts.notAfterMs > Date.now()) return;
  const words = `it ran out on ${dateOf(facts.notAfterMs)} by this host's clock, which may be wrong`;
  throw new PodwrightError('invalid_argument', `${what}: ${words}`);
}

const SUBJECT_CHANGED = new PodwrightError('aborted', 'the subject of the certificate has changed');
const RAN_OUT = new PodwrightError('aborted', 'the certificate has expired');

/**
 * Whether to give up on the certificate request and create a new one: it was denied, was not approved within 15 minutes, or led to an
 * unusable certificate.
 */
function isFinal(error: unknown): boolean {
  return ['failed_precondition', 'invalid_argument', 'deadline_exceeded'].includes(errorCode(error));
}

const dateOf = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
