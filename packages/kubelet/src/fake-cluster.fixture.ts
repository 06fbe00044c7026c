import { type Failpoint, waitFor, withTimeout } from '@podwright/base';
import type { KubeObject, Pod } from '@podwright/kube-api';
import { PODS } from '@podwright/kube-client';
import type { FakeKubeClient } from '@podwright/kube-client/testing';
import { fakeApi } from './api-pods/api-pods.fixture.ts';
import { type FakeKubelet, startFakeKubelet } from './fake-kubelet.fixture.ts';

const PATIENCE_MS = 30_000;

/** A kubelet on an in-memory container runtime, and its cluster's fake API server. */
export type FakeCluster = {
  api: FakeKubeClient;
  kubelet: FakeKubelet;
  /** Waits until `holds` returns true for the pod at the API server, then resolves with that pod. */
  shown: (name: string, holds: (pod: Pod) => boolean) => Promise<Pod>;
  gone: (name: string) => Promise<void>;
  close: () => Promise<void>;
};

type Given = { api?: FakeKubeClient; failpoint?: Failpoint } & Parameters<typeof startFakeKubelet>[0];

export async function startFakeCluster({ api = fakeApi(), failpoint, ...given }: Given = {}): Promise<FakeCluster> {
  const cluster = { client: api, heartbeatClient: api, eventClient: api, failpoint };
  const kubelet = await startFakeKubelet({ cluster, ...given });
  const place = (name: string) => ({ namespace: 'default', name });
  const until = async <T>(what: string, look: () => T | undefined): Promise<T> => {
    using signal = withTimeout(undefined, PATIENCE_MS, what);
    return await waitFor(look, { intervalMs: 2, signal });
  };
  return {
    api,
    kubelet,
    shown: (name, holds) =>
      until(`wait for pod ${name} at the API server`, () => {
        const pod = api.stored<KubeObject & Pod>(PODS, place(name));
        return pod !== undefined && holds(pod) ? pod : undefined;
      }),
    gone: async (name) => {
      await until(`wait for the end of pod ${name}`, () => api.stored(PODS, place(name)) === undefined || undefined);
    },
    close: () => kubelet.close(),
  };
}
