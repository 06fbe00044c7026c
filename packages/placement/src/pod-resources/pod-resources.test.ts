import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { connectService } from '@podwright/grpc';
import type { Pod } from '@podwright/kube-api';
import { PodResourcesLister } from '../pod-resources-api.ts';
import { CallLimit } from './call-limit.ts';
import { servePodResources } from './serve-pod-resources.ts';

const container = (name: string, more: object = {}) => ({ name, image: 'i', ...more });
const POD: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u1' },
  spec: {
    initContainers: [container('init'), container('side', { restartPolicy: 'Always' })],
    containers: [container('app')],
  },
};
const NOTHING = { devices: [], cpus: [], memory: [] };

test('exclusive resources of containers are listed, and calls are rate-limited', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'pwk-pod-resources-'));
  const server = await servePodResources({
    directory: join(directory, 'pod-resources'),
    activePods: () => [POD],
    resourcesOf: (_, { name }) =>
      name !== 'app'
        ? NOTHING
        : {
            devices: [{ resource: 'e.com/w', ids: ['w1'], nodes: [1] }],
            cpus: [2, 3],
            memory: [{ type: 'memory', size: 64n, nodes: [0] }],
          },
    claimsOf: (_, { name }) =>
      name !== 'app'
        ? []
        : [
            {
              ...{ namespace: 'default', name: 'gpu' },
              devices: [{ driver: 'd', pool: 'p', device: 'x', cdiDevices: ['e.com/w=x'] }],
            },
          ],
    allocatable: () => ({ ...NOTHING, cpus: [1, 2, 3] }),
    logger: silentLogger,
  });
  const client = connectService(PodResourcesLister, join(directory, 'pod-resources/kubelet.sock'), {
    maxReceiveBytes: 1 << 20,
  });
  context.after(async () => {
    client.close();
    await server.close();
    await rm(directory, { recursive: true });
  });
  const { podResources } = await client.list({});
  assert.deepEqual(
    podResources.map(({ name, namespace, containers }) => [name, namespace, containers.map((one) => one.name)]),
    [['web', 'default', ['side', 'app']]],
  );
  const app = (await client.get({ podName: 'web', podNamespace: 'default' })).podResources!.containers[1]!;
  assert.deepEqual(
    [app.cpuIds, app.devices[0]?.deviceIds, app.devices[0]?.topology?.nodes[0]?.ID],
    [[2n, 3n], ['w1'], 1n],
  );
  assert.deepEqual([app.memory[0]?.memoryType, app.memory[0]?.size], ['memory', 64n]);
  const [{ claimName, claimResources } = {}] = app.dynamicResources;
  assert.deepEqual(
    [claimName, claimResources?.[0]?.deviceName, claimResources?.[0]?.cdiDevices[0]?.name],
    ['gpu', 'x', 'e.com/w=x'],
  );
  assert.deepEqual((await client.getAllocatableResources({})).cpuIds, [1n, 2n, 3n]);
  await assert.rejects(client.get({ podName: 'other', podNamespace: 'default' }), {
    message: 'pod other in namespace default not found',
  });
  const answers = await Promise.allSettled(Array.from({ length: 200 }, () => client.list({})));
  const refused = answers.filter(({ status }) => status === 'rejected');
  assert.ok(refused.length > 0);
  assert.match(String((refused[0] as PromiseRejectedResult).reason.message), /rejected by rate limit/);
});

test('the limiter allows a burst, followed by its rate', () => {
  let now = 0;
  const limit = new CallLimit({ perSecond: 10, burst: 2 }, () => now);
  limit.take();
  limit.take();
  assert.throws(() => limit.take(), { code: 'resource_exhausted' });
  now = 100;
  limit.take();
  assert.throws(() => limit.take());
});
