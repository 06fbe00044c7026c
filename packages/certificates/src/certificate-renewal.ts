import { createPrivateKey } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Backoff, errorCode, errorMessage, type Logger, PodwrightError, sleep, withTimeout } from '@podwright/base';
import type { KubeClient } from '@podwright/kube-client';
import { type CertificatePair, readPair, satisfies } from './certificate-pair.ts';
import { type CertificateSubject, certificateRequest } from './certificate-request.ts';
import type { CertificateStore, KeptPair } from './certificate-store.ts';
import { CERTIFICATE_TIMEOUT_MS, RENEWAL_BACKOFF, RENEWAL_WAIT_MS } from './limits.ts';
import { type PendingRequest, PendingRequestFile } from './pending-request.ts';
import { isDue, renewalMs } from './renewal-time.ts';
import { awaitCertificate, createSigningRequest, isThere, type SignerName } from './signing-request.ts';

export type CertificateRenewalParts = {
  store: CertificateStore;
  signer: SignerName;
  /** Whom the certificate is for; `undefined` while that is not known. May change. */
  subject: () => CertificateSubject | undefined;
  /** Who asks: by the certificate that is there, if it is valid, else by other means. */
  client: (hasValid: boolean) => KubeClient | Promise<KubeClient>;
  /** Called with each certificate that is kept. */
  onRenewed: (pair: KeptPair) => Promise<void> | void;
  /** Called when a try has failed. */
  onFailure?: () => void;
  logger: Logger;
};

/**
 * Keeps a certificate that the cluster signs: asked for when there is none, it is for another subject, or 70 to 90 % of its life are
 * over; tried again after 2, 4, 8 … 32 s. What was asked is on disk before the API server hears of it, so that being ended at any
 * moment costs no more than a request that nobody waits for.
 */
export class CertificateRenewal {
  readonly #parts: CertificateRenewalParts;
  readonly #pending: PendingRequestFile;
  readonly #backoff = new Backoff(RENEWAL_BACKOFF);
  readonly #stopped = new AbortController();
  #current: KeptPair | undefined;
  #renewAtMs = 0;
  #problem: string | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: CertificateRenewalParts) {
    this.#parts = parts;
    this.#pending = new PendingRequestFile(parts.store.pendingPath);
  }

  /** Reads what is kept, and goes on from there until it is stopped. */
  async start(): Promise<void> {
    this.#take(await this.#parts.store.current());
    this.#running = this.#run(this.#stopped.signal).catch(() => undefined); // it was stopped
  }

  async stop(): Promise<void> {
    this.#stopped.abort(new PodwrightError('cancelled', 'the kubelet is being closed'));
    await this.#running;
  }

  /** The certificate that is valid now. */
  current(): KeptPair | undefined {
    return this.#current !== undefined && Date.now() <= this.#current.notAfterMs ? this.#current : undefined;
  }

  /** When the certificate runs out or ran out, wall clock in milliseconds; `undefined` without one. */
  get expiresAtMs(): number | undefined {
    return this.#current?.notAfterMs;
  }

  /** Why the last try failed, in words; `undefined` while all is well. */
  problem(): string | undefined {
    return this.#problem;
  }

  #take(pair: KeptPair | undefined): void {
    this.#current = pair;
    this.#renewAtMs = pair === undefined ? 0 : renewalMs(pair, Math.random());
  }

  async #run(signal: AbortSignal): Promise<void> {
    for (;;) {
      const wanted = this.#parts.subject();
      const isNeeded =
        wanted !== undefined && isDue(this.#current, wanted, { renewAtMs: this.#renewAtMs, nowMs: Date.now() });
      if (isNeeded) await this.#renew(wanted, signal);
      await sleep(RENEWAL_WAIT_MS, signal); // also after one that is due as soon as it is there
    }
  }

  /** One try, and the pause after one that failed. */
  async #renew(wanted: CertificateSubject, signal: AbortSignal): Promise<void> {
    const { logger, signer, onRenewed, onFailure } = this.#parts;
    try {
      using deadline = withTimeout(signal, CERTIFICATE_TIMEOUT_MS, 'wait for a certificate to be approved and signed');
      using wait = this.#whileWanted(wanted, deadline);
      this.#take(await this.#obtain(wanted, wait));
      this.#backoff.forget(signer);
      this.#problem = undefined;
      logger.info({ signer, notAfter: dateOf(this.#current?.notAfterMs) }, 'a new certificate of the cluster');
      await onRenewed(this.#current!);
    } catch (error) {
      if (signal.aborted) throw error;
      if (error === NO_LONGER_WANTED || error === RAN_OUT) return;
      this.#problem = `${errorMessage(error)}${this.#expiryWords()}`;
      logger.error({ signer, error: this.#problem }, 'a certificate of the cluster could not be had');
      onFailure?.();
      await sleep(this.#backoff.next(signer) * (1 + 0.1 * Math.random()), signal);
    }
  }

  #expiryWords(): string {
    if (this.#current === undefined || this.current() !== undefined) return '';
    return `; the one that is there ran out on ${dateOf(this.#current.notAfterMs)}`;
  }

  async #obtain(wanted: CertificateSubject, signal: AbortSignal): Promise<KeptPair> {
    const { store, client: clientFor, logger } = this.#parts;
    const client = await clientFor(this.current() !== undefined);
    const pending = await this.#pending.open(wanted);
    const asked = await this.#ask(client, { wanted, pending }, signal);
    logger.info({ csr: asked.name }, 'waiting for a certificate signing request to be approved and signed');
    try {
      const certificate = await awaitCertificate(client, asked, { signal, logger });
      const pair = { certificate, key: pending.key };
      refuseUseless(pair, wanted);
      const kept = await store.update(pair);
      await this.#pending.remove();
      return kept;
    } catch (error) {
      // another request gets another answer, the same one would not
      if (isFinal(error)) await this.#pending.remove();
      throw error;
    }
  }

  async #ask(
    client: KubeClient,
    { wanted, pending }: { wanted: CertificateSubject; pending: PendingRequest },
    signal: AbortSignal,
  ): Promise<{ name: string; uid: string }> {
    const { key, asked: before } = pending;
    if (before !== undefined && (await isThere(client, before, signal))) return before;
    const request = certificateRequest(wanted, createPrivateKey(key));
    const { signer } = this.#parts;
    const byToken = signer === 'kubernetes.io/kube-apiserver-client-kubelet' && this.current() === undefined;
    const asked = await createSigningRequest(client, { request, signer, byToken }, signal);
    await this.#pending.write(wanted, { key, asked });
    return asked;
  }

  /**
   * Aborts as well when something else is wanted, as a node's addresses may change while nobody approves, and when the certificate has
   * run out by which its holder asks: somebody else may go on waiting for the same request.
   */
  #whileWanted(wanted: CertificateSubject, signal: AbortSignal): AbortSignal & Disposable {
    const changed = new AbortController();
    const wasValid = this.current() !== undefined;
    const timer = setInterval(() => {
      const now = this.#parts.subject();
      if (now !== undefined && !isDeepStrictEqual(now, wanted)) changed.abort(NO_LONGER_WANTED);
      if (wasValid && this.current() === undefined) changed.abort(RAN_OUT);
    }, RENEWAL_WAIT_MS);
    return Object.assign(AbortSignal.any([signal, changed.signal]), { [Symbol.dispose]: () => clearInterval(timer) });
  }
}

/** Or the next one would be asked for at once, again and again. */
function refuseUseless(pair: CertificatePair, wanted: CertificateSubject): void {
  const what = 'take the certificate that the cluster signed';
  const facts = readPair(what, pair);
  if (!satisfies(facts, wanted))
    throw new PodwrightError('invalid_argument', `${what}: it is not for ${wanted.commonName} with all its names`);
  if (facts.notAfterMs > Date.now()) return;
  const words = `it ran out on ${dateOf(facts.notAfterMs)} by this host's clock, which may be wrong`;
  throw new PodwrightError('invalid_argument', `${what}: ${words}`);
}

const NO_LONGER_WANTED = new PodwrightError('aborted', 'a certificate for something else is wanted by now');
const RAN_OUT = new PodwrightError('aborted', 'the certificate has run out meanwhile');

/** The certificate or the request is of no use, or nobody has looked at it for a quarter of an hour. */
function isFinal(error: unknown): boolean {
  return ['failed_precondition', 'invalid_argument', 'deadline_exceeded'].includes(errorCode(error));
}

const dateOf = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
