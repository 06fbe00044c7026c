import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { FakeRuntime } from '@podwright/cri/testing';
import type { Pod } from '@podwright/kube-api';
import { PodEvents } from '@podwright/kube-api';
import { PodFreezer } from '../cgroups/pod-freezer.ts';
import { kubeletOptions } from '../options.ts';
import { kubeletParts } from './kubelet-parts.ts';

test('a container without limits gets the node’s allocatable resources as its limits', async (context) => {
  const rootDir = await mkdtemp(join(tmpdir(), 'pwk-parts-'));
  context.after(() => rm(rootDir, { recursive: true }));
  const place = { manifestDir: join(rootDir, 'manifests'), runtimeEndpoint: '/none', nodeName: 'node', rootDir };
  const systemReserved = { memoryBytes: 0, pids: 0, cpuMillis: 500, ephemeralStorageBytes: 0 };
  const parts = kubeletParts(
    {
      options: kubeletOptions({ ...place, logger: silentLogger, systemReserved }),
      cri: new FakeRuntime().client,
      events: new PodEvents('node'),
      hostIps: () => [],
      freezer: new PodFreezer(undefined),
      resources: { cpu: 1500n, memory: 1024n },
      grantsOf: async () => undefined,
    },
    {},
  );
  const valueFrom = { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } };
  const container = {
    name: 'app',
    image: 'i',
    terminationMessagePath: '/dev/termination-log',
    env: [{ name: 'CPU', valueFrom }],
  };
  const metadata = { name: 'web', namespace: 'default', uid: 'u' };
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container] } };
  const request = { pod, container, podIps: [], volumeImages: new Map(), recursiveReadOnly: false };
  const { environment } = await parts.prepare(request, new AbortController().signal);
  assert.deepEqual(environment, [{ name: 'CPU', value: '1500' }]);
});
