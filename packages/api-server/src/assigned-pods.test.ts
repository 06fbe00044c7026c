import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import type { KubeObject, Node } from '@podwright/kube-api';
import { NODES, PODS } from '@podwright/kube-client';
import { startApiServer } from './start-api-server.ts';

const DEFAULT = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'default' } };
const pod = (name: string, spec: object = {}) =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { containers: [{ name: 'main', image: 'busybox' }], automountServiceAccountToken: false, ...spec },
  }) as KubeObject;

type BoundPod = KubeObject & { spec: { nodeName?: string }; status: { conditions?: { type: string }[] } };

test('pods are bound to the ready node, which loses its taint', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'assigned-'));
  const server = await startApiServer({
    ...{ directory: join(directory, 'data'), socketPath: join(directory, 'api.sock'), logger: silentLogger },
    assignsPods: true,
  });
  using signal = withTimeout(undefined, 20_000, 'wait for the pods');
  try {
    const client = server.client({ username: 'admin', groups: ['system:masters'] });
    const bound = async () => {
      const { items } = await client.list<BoundPod>(PODS, { namespace: 'default' });
      return items.map(({ metadata, spec }) => `${metadata.name} ${spec.nodeName ?? ''}`.trim());
    };
    const until = (holds: () => Promise<boolean>) =>
      waitFor(async () => (await holds()) || undefined, { intervalMs: 5, signal });
    const node = (name: string) => client.get<Node>(NODES, { name });
    const setReady = (name: string, status: string) =>
      client.patch(
        NODES,
        { name },
        { type: 'strategic', subresource: 'status', body: { status: { conditions: [{ type: 'Ready', status }] } } },
      );
    await client.create({ ...PODS, plural: 'serviceaccounts', kind: 'ServiceAccount' }, DEFAULT).catch(() => undefined);
    await client.create(PODS, pod('early'));
    await client.create(PODS, pod('gated', { schedulingGates: [{ name: 'x.y/z' }] }));
    await client.create(PODS, pod('other', { schedulerName: 'mine' }));
    await client.create(NODES, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'a' },
      spec: { unschedulable: true },
    } as KubeObject);
    await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'b' } });
    await setReady('a', 'True');
    await setReady('b', 'False');
    await until(async () => ((await node('a')).spec?.taints ?? []).every(({ key }) => !key.endsWith('/not-ready')));
    assert.deepEqual(await bound(), ['early', 'gated', 'other']);
    assert.equal((await node('b')).spec?.taints?.length, 1);
    await setReady('b', 'True');
    await until(async () => (await bound())[0] === 'early b');
    const { status } = await client.get<BoundPod>(PODS, { namespace: 'default', name: 'early' });
    assert.deepEqual(
      status.conditions?.map(({ type }) => type),
      ['PodScheduled'],
    );
    await client.create(PODS, pod('late'));
    await until(async () => (await bound())[2] === 'late b');
    await client.patch(
      PODS,
      { namespace: 'default', name: 'gated' },
      { type: 'merge', body: { spec: { schedulingGates: null } } },
    );
    await until(async () => (await bound())[1] === 'gated b');
    assert.equal((await bound())[3], 'other');
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true });
  }
});
