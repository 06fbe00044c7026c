import { type CertificateFacts, satisfies } from './certificate-pair.ts';
import type { CertificateSubject } from './certificate-request.ts';

/**
 * A certificate is renewed after a random fraction of its lifetime between `LEAST_SHARE` and `LEAST_SHARE + JITTER_SHARE`, so that nodes do
 * not all renew at once.
 */
const LEAST_SHARE = 0.7;
const JITTER_SHARE = 0.2;

/**
 * Returns when to renew a certificate, in Unix milliseconds (client-go, jitteryDuration). `chance` is a random number between 0 and 1.
 * Pure.
 */
export function renewalMs({ notBeforeMs, notAfterMs }: CertificateFacts, chance: number): number {
  return notBeforeMs + (notAfterMs - notBeforeMs) * (LEAST_SHARE + JITTER_SHARE * chance);
}

/** Whether to request a certificate now: there is none, its subject is not the wanted one, or its renewal time has passed. Pure. */
export function isDue(
  facts: CertificateFacts | undefined,
  wanted: CertificateSubject,
  { renewAtMs, nowMs }: { renewAtMs: number; nowMs: number },
): boolean {
  return facts === undefined || !satisfies(facts, wanted) || nowMs >= renewAtMs;
}
