import { isRecord } from '@podwright/base';
import type { KubeObject, Pod, PodSpec } from '@podwright/kube-api';
import { NODES, PODS } from '@podwright/kube-client';
import { type FakeAnswer, type FakeCall, FakeKubeClient, refusal } from '@podwright/kube-client/testing';

const MERGED_BY: Record<string, string> = { conditions: 'type', podIPs: 'ip', hostIPs: 'ip' };

type Json = Record<string, unknown>;

/** A fake API server with one node. It first returns the responses in `first`, then applies status patches like a real API server. */
export function fakeApi(...first: FakeAnswer[]): FakeKubeClient {
  const api = new FakeKubeClient();
  api.put(NODES, { metadata: { name: 'node', uid: 'uid-of-node' } });
  const answer = (call: FakeCall) => {
    const known = api.stored<KubeObject & { status?: Json }>(PODS, call.key!);
    if (known === undefined) throw refusal(404, 'NotFound', `pods "${call.key!.name}" not found`);
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
    else if (isRecord(value) && isRecord(before)) result[key] = mergedMap(before, value);
    else result[key] = value;
  }
  for (const [key, order] of Object.entries(patch)) {
    const [directive, name] = key.split('/');
    if (directive !== '$setElementOrder') continue;
    const by = MERGED_BY[name!]!;
    const rank = (one: Json) => (order as Json[]).findIndex((other) => other[by] === one[by]);
    result[name!] = (result[name!] as Json[]).toSorted((a, b) => rank(a) - rank(b));
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

/** Returns a pod as an API server would return it, bound to the node. */
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
