import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { metricsText, Registry, silentLogger } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { Mounter } from './mounter.ts';
import type { VolumePlugin } from './plugin.ts';
import { PodDirectories } from './pod-directories.ts';
import { StorageMetrics } from './storage-metrics.ts';
import { VolumeFailure } from './volume-failure.ts';
import { VolumeManager } from './volume-manager.ts';

test('metrics count mount operations, mounted volumes and desired volumes by plugin', async (t) => {
  const scratch = mkdtempSync(join(tmpdir(), 'podwright-volumes-'));
  t.after(() => rmSync(scratch, { recursive: true }));
  const registry = new Registry();
  const plugin: VolumePlugin = {
    name: 'kubernetes.io/empty-dir',
    supports: () => true,
    setUp: async ({ volume, directory }) => {
      if (volume.name === 'bad') throw new Error('no');
      if (volume.name === 'unbound') throw new VolumeFailure('no').untried();
      return directory;
    },
  };
  const mounter = { mountsBelow: async () => [] } as unknown as Mounter;
  const directories = new PodDirectories(scratch);
  const manager = new VolumeManager({
    directories,
    plugins: [plugin],
    mounter,
    logger: silentLogger,
    metrics: registry,
    storageMetrics: new StorageMetrics(registry),
  });
  const names = ['good', 'bad', 'unbound', 'unused'];
  const volumeMounts = names.slice(0, 3).map((name) => ({ name, mountPath: `/${name}` }));
  const spec = { volumes: names.map((name) => ({ name, emptyDir: {} })), containers: [{ volumeMounts }] };
  const pod = { metadata: { uid: 'u' }, spec } as unknown as Pod;
  for (let times = 0; times < 2; times++) await manager.mountForPod(pod, new AbortController().signal);
  const matches = async (pattern: RegExp) => {
    const lines = (await metricsText(registry, () => true)).split('\n');
    return lines.flatMap((line) => pattern.exec(line)?.slice(1).join(' ') ?? []);
  };
  assert.deepEqual(await matches(/^volume_manager_total_volumes\{.*state="(\w+)"\} (\d+)/), [
    'actual_state_of_world 1',
    'desired_state_of_world 3',
  ]);
  const mounts =
    /_count\{volume_plugin="kubernetes.io\/empty-dir",operation_name="volume_mount",status="([\w-]+)".* (\d+)/;
  // sort, because the order of the series depends on which mount finished first
  assert.deepEqual((await matches(mounts)).sort(), ['fail-unknown 2', 'success 1']);
  await manager.unmountForPod('u');
  assert.deepEqual(await matches(/^(volume_manager_total_volumes)\{/), []);
  await manager.close();
});
