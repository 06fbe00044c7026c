import { isDeadlineExceeded, sleep, withTimeout } from '@podwright/base';
import type { KubeObject, Resource } from '@podwright/kube-api';
import { ApiStatusError, type KubeClient } from '@podwright/kube-client';
import { REVIEW_RETRIES, REVIEW_TIMEOUT_MS } from './limits.ts';

/** Sends a review and returns its status without validating it. The API server does not store reviews. Transient errors are retried. */
export async function review(client: KubeClient, resource: Resource, spec: object): Promise<unknown> {
  const { group, version, kind } = resource;
  const object = { apiVersion: `${group}/${version}`, kind, metadata: {}, spec };
  using signal = withTimeout(undefined, REVIEW_TIMEOUT_MS, `ask the API server for a ${kind}`);
  for (let tries = 1, delayMs = REVIEW_RETRIES.initialMs; ; tries++, delayMs *= REVIEW_RETRIES.factor) {
    try {
      return (await client.create<KubeObject & { status?: unknown }>(resource, object, { signal })).status;
    } catch (error) {
      if (tries >= REVIEW_RETRIES.most || !isTransient(error) || signal.aborted) throw error;
      await sleep(delayMs * (1 + 0.2 * Math.random()), signal);
    }
  }
}

function isTransient(error: unknown): boolean {
  if (error instanceof ApiStatusError) return [429, 500, 503, 504].includes(error.status.code);
  return !isDeadlineExceeded(error);
}
