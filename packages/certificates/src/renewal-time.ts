import { type CertificateFacts, satisfies } from './certificate-pair.ts';
import type { CertificateSubject } from './certificate-request.ts';

/** A certificate is replaced when this share of its life is over, and up to as much more, so that nodes do not ask all at once. */
const LEAST_SHARE = 0.7;
const JITTER_SHARE = 0.2;

/** When a certificate is to be replaced (client-go, jitteryDuration); `chance` is between 0 and 1. Wall clock, in milliseconds. Pure. */
export function renewalMs({ notBeforeMs, notAfterMs }: CertificateFacts, chance: number): number {
  return notBeforeMs + (notAfterMs - notBeforeMs) * (LEAST_SHARE + JITTER_SHARE * chance);
}

/** Whether another certificate is needed now: there is none, it is for somebody else, or its time has come. Pure. */
export function isDue(
  facts: CertificateFacts | undefined,
  wanted: CertificateSubject,
  { renewAtMs, nowMs }: { renewAtMs: number; nowMs: number },
): boolean {
  return facts === undefined || !satisfies(facts, wanted) || nowMs >= renewAtMs;
}
