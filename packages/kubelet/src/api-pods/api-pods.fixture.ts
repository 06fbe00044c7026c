import { type Failpoint, waitFor, withTimeout } from '@podwright/base';
import { type KubeObject, NODES, PODS } from '@podwright/kube-client';
import { type FakeAnswer, type FakeCall, FakeKubeClient, refusal } from '@podwright/kube-client/testing';
import type { Pod, PodSpec } from '../api/types.ts';
import { type FakeKubelet, startFakeKubelet } from '../fake-kubelet.fixture.ts';
import { isMap } from './shaped-status.ts';

const PATIENCE_MS = 30_000;
const MERGED_BY: Record<string, string> = { conditions: 'type', podIPs: 'ip', hostIPs: 'ip' };

type Json = Record<string, unknown>;

/** A kubelet on a runtime in memory, and the API server of its cluster. */
export type FakeCluster = {
  api: FakeKubeClient;
  kubelet: FakeKubelet;
  /** Resolves with the pod as the API server has it once `holds` does. */
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

/** It merges patches of statuses as API servers do, after these first answers to them, and has the node. */
export function fakeApi(...first: FakeAnswer[]): FakeKubeClient {
  const api = new FakeKubeClient();
  api.put(NODES, { metadata: { name: 'node', uid: 'uid-of-node' } });
  const answer = (call: FakeCall) => {
    const known = api.stored<KubeObject & { status?: Json }>(PODS, call.place!);
    if (known === undefined) throw refusal(404, 'NotFound', `pods "${call.place!.name}" not found`);
    const { metadata, status } = call.body as { metadata: { uid: string; resourceVersion?: string }; status: Json };
    if (metadata.uid !== known.metadata.uid) throw refusal(409, 'Conflict', 'the UID in the precondition is another');
    if (![undefined, known.metadata.resourceVersion].includes(metadata.resourceVersion))
      throw refusal(409, 'Conflict', 'the object has been modified');
    return api.put(PODS, { ...known, status: mergedMap(known.status ?? {}, status) } as KubeObject);
  };
  api.script(
    { verb: 'patch', plural: 'pods', subresource: 'status' },
    ...first,
    ...Array<typeof answer>(1000).fill(answer),
  );
  return api;
}

function mergedMap(known: Json, patch: Json): Json {
  const result: Json = { ...known };
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith('$')) continue;
    const before = result[key];
    if (value === null) delete result[key];
    else if (MERGED_BY[key] !== undefined)
      result[key] = mergedList((before as Json[]) ?? [], value as Json[], MERGED_BY[key]);
    else if (isMap(value) && isMap(before)) result[key] = mergedMap(before, value);
    else result[key] = value;
  }
  for (const [key, order] of Object.entries(patch)) {
    const [directive, name] = key.split('/');
    if (directive !== '$setElementOrder') continue;
    const by = MERGED_BY[name!]!;
    const place = (one: Json) => (order as Json[]).findIndex((other) => other[by] === one[by]);
    result[name!] = (result[name!] as Json[]).toSorted((a, b) => place(a) - place(b));
  }
  return result;
}

function mergedList(known: Json[], patch: Json[], key: string): Json[] {
  const result = new Map(known.map((one) => [one[key], one]));
  for (const one of patch)
    if (one.$patch === 'delete') result.delete(one[key]);
    else result.set(one[key], mergedMap(result.get(one[key]) ?? {}, one));
  return [...result.values()];
}

/** A pod as an API server tells it that has bound it to the node. */
export function apiPod(name: string, { spec, ...metadata }: { spec?: Partial<PodSpec> } & Json = {}): KubeObject & Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: `uid-${name}`, generation: 1, ...metadata },
    spec: {
      nodeName: 'node',
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      containers: [{ name: 'main', image: 'busybox:1', imagePullPolicy: 'IfNotPresent' }],
      ...spec,
    },
    status: {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
      qosClass: 'BestEffort',
    },
  };
}
