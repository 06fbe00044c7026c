import { X509Certificate } from 'node:crypto';
import { type ApiObject, type JsonObject, objectsAt, textAt } from '@podwright/kube-kinds';
import { REQUESTS } from './certificate-requests.ts';
import type { ControllerParts } from './controller-parts.ts';
import { ignoreOvertaken } from './ignore-overtaken.ts';
import { repeat } from './repeat.ts';

const HOUR_MS = 3_600_000;
/**
 * How long certificate signing requests are retained once approved, denied or failed (`DECIDED_MS`) or while pending (`PENDING_MS`), as in
 * upstream.
 */
const DECIDED_MS = HOUR_MS;
const PENDING_MS = 24 * HOUR_MS;
const CHECK_EVERY_MS = HOUR_MS;

type CleanerParts = ControllerParts & { now: () => number };

/** Deletes old certificate signing requests (upstream's csrcleaner controller). */
export function cleanRequests(parts: CleanerParts): Promise<void> {
  const failure = 'delete old certificate signing requests failed';
  return repeat(() => deleteOldRequests(parts), { ...parts, everyMs: CHECK_EVERY_MS, failure });
}

export async function deleteOldRequests({ store, registryOf, context, now }: CleanerParts): Promise<void> {
  for (const stored of store.list(REQUESTS).objects) {
    const object = stored.decode();
    if (!isOld(object, now())) continue;
    const { name = '' } = object.metadata;
    const options = { preconditions: { resourceVersion: String(stored.revision) } };
    await registryOf(REQUESTS).delete({ namespace: '', name }, options, context()).catch(ignoreOvertaken);
  }
}

function isOld(object: ApiObject, nowMs: number): boolean {
  const certificate = textAt(object, 'status', 'certificate');
  const conditions = objectsAt(object, 'status', 'conditions');
  const isOver = (lifeMs: number, ...times: string[]) => times.some((time) => Date.parse(time) + lifeMs < nowMs);
  const isDecided = (type: string, lifeMs: number) =>
    conditions.some((one) => one.type === type && isOver(lifeMs, updateTime(one)));
  if (conditions.length === 0) return isOver(PENDING_MS, object.metadata.creationTimestamp ?? '');
  if (isDecided('Denied', DECIDED_MS) || isDecided('Failed', DECIDED_MS)) return true;
  if (certificate === '') return isDecided('Approved', PENDING_MS);
  return isDecided('Approved', DECIDED_MS) || isExpired(certificate, nowMs);
}

const updateTime = (condition: JsonObject): string => textAt(condition, 'lastUpdateTime');

/** Whether a certificate has expired. Certificates that OpenSSL cannot parse count as valid. */
function isExpired(certificate: string, nowMs: number): boolean {
  try {
    return new X509Certificate(Buffer.from(certificate, 'base64')).validToDate.getTime() < nowMs;
  } catch {
    return false;
  }
}
