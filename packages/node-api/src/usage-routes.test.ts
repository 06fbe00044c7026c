import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Call } from '@podwright/kubelet-server';
import type { NodeBackend } from './node-backend.ts';
import { usageRoutes } from './usage-routes.ts';

const podOf = (name: string, namespace: string) => ({
  metadata: { name, namespace, labels: { app: name } },
  status: { containerStatuses: [{ name: 'main', containerID: `x://${name}`, state: { running: {} } }] },
});

const USE = { cpuNanoCores: 1, memoryBytes: 1024 };
const OBJECTS: Record<string, object[]> = {
  Pod: [podOf('web', 'default'), podOf('db', 'team-a')],
  Node: [{ metadata: { name: 'one' } }],
};
const backend = {
  list: (kind: string) => OBJECTS[kind],
  usage: async () => ({
    containers: new Map([
      ['web', USE],
      ['db', USE],
    ]),
    atMs: 0,
    windowMs: 500,
  }),
  hostUsage: async () => USE,
} as unknown as NodeBackend;

/** Returns the names of the objects in the response. `place`: the path under the group and version. */
async function names(place: 'pods' | 'nodes', fieldSelector: string, namespace?: string): Promise<string[]> {
  const path = `/apis/metrics.k8s.io/v1/${namespace === undefined ? '' : 'namespaces/:namespace/'}${place}`;
  const route = usageRoutes(backend).find((one) => one.path === path)!;
  const texts: string[] = [];
  const response = { writeHead: () => ({ end: (text: string) => texts.push(text) }) };
  const query = new URLSearchParams({ fieldSelector });
  await route.handler({ response, query, params: { namespace }, signal: AbortSignal.timeout(1000) } as unknown as Call);
  return (JSON.parse(texts.join()) as { items: { metadata: { name: string } }[] }).items.map(
    ({ metadata }) => metadata.name,
  );
}

test('pod and node usage can be selected by name and namespace', async () => {
  assert.deepEqual(await names('pods', ''), ['web', 'db']);
  assert.deepEqual(await names('pods', 'metadata.name=web'), ['web']);
  assert.deepEqual(await names('pods', 'metadata.name!=web'), ['db']);
  assert.deepEqual(await names('pods', 'metadata.namespace=team-a', 'default'), []);
  assert.deepEqual(await names('nodes', 'metadata.name=one'), ['one']);
  assert.deepEqual(await names('nodes', 'metadata.name=other'), []);
  await assert.rejects(names('pods', 'spec.nodeName=one'), { code: 'invalid_argument' });
});
