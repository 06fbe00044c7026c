import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Logger, silentLogger } from '@podwright/base';
import type { CgroupHierarchy } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import { DEFAULT_RESOURCE_POLICY } from '../../../kubelet-configuration/src/options/resource-policy.ts';
import { openPodCgroups } from './open-pod-cgroups.ts';

function recordingLogger(): Logger & { warnings: { fields: Record<string, unknown>; message: string }[] } {
  const warnings: { fields: Record<string, unknown>; message: string }[] = [];
  const warn = (fields: object, message: string) => void warnings.push({ fields: { ...fields }, message });
  return { ...silentLogger, warn, warnings };
}

test('a controller that the kernel does not enable for pod cgroups is logged once', async (context) => {
  const mountPoint = mkdtempSync(join(tmpdir(), 'podwright-cgroup-'));
  context.after(() => rmSync(mountPoint, { recursive: true }));
  mkdirSync(join(mountPoint, 'kubepods'));
  writeFileSync(join(mountPoint, 'cgroup.controllers'), 'memory rdma');
  symlinkSync('/proc/version', join(mountPoint, 'cgroup.subtree_control')); // readable, but every write fails
  const hierarchy: CgroupHierarchy = {
    mode: 'v2',
    trees: [{ version: 2, mountPoint, controllers: ['memory', 'rdma'] }],
  };
  const logger = recordingLogger();
  const settings = { limits: {}, milliCpu: 1000n, policy: DEFAULT_RESOURCE_POLICY, hugePageSizes: [] };
  const cgroups = await openPodCgroups({ root: '/', driver: 'cgroupfs', hierarchy, settings, logger });
  const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'web', image: 'i' }] } };
  await cgroups.ensure(pod);
  const refused = logger.warnings.filter(({ fields }) => 'controller' in fields);
  assert.deepEqual(
    refused.map(({ fields: { controller, directory } }) => ({ controller, directory })),
    [{ controller: 'memory', directory: mountPoint }],
  );
});
