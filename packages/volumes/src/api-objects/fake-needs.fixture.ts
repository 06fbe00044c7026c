import assert from 'node:assert/strict';
import type { Pod, PodSpec } from '@podwright/kube-api';

/** A pod as read from an API server. */
export function podOf(name: string, spec: Partial<PodSpec>): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, annotations: { 'kubernetes.io/config.source': 'api' } },
    spec: { containers: [{ name: 'main', image: 'app' }], ...spec },
  } as Pod;
}

export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!condition()) {
    assert.ok(performance.now() < deadline, 'the condition did not become true within 30 s');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export const NEVER: AbortSignal = new AbortController().signal;
