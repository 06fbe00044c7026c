import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { FrozenStats } from './frozen-stats.ts';
import { NO_FILES_OF_POD } from './pod-files.ts';
import type { SandboxUse } from './pod-stats.ts';
import type { ReadyPod } from './ready-pods.ts';
import { VolumeUse } from './volume-use.ts';

const identity = { name: 'a', namespace: 'default', uid: 'a' };
const ready = {
  runtime: { pod: identity, containers: [] },
  sandbox: { id: 's', createdAtMs: 0 },
} as unknown as ReadyPod;
const volumes = [{ name: 'v', emptyDir: {} }];
const pod = { metadata: identity, spec: { containers: [], volumes } } as unknown as Pod;
const signal = new AbortController().signal;
const writableLayer = { usedBytes: { value: 7n }, inodesUsed: { value: 1n }, timestamp: 0n };
const layer = { containers: [{ writableLayer }] } as unknown as SandboxUse;

/**
 * Creates FrozenStats for a pod with one emptyDir, which contains a file of 1 MiB. `steps` records when the pod is frozen, measured and
 * thawed.
 */
function start(t: TestContext, { use = async () => layer, isFreezable = true } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-frozen-'));
  t.after(() => rmSync(directory, { recursive: true }));
  mkdirSync(join(directory, 'a'));
  writeFileSync(join(directory, 'a/big'), Buffer.alloc(1 << 20, 1));
  const steps: string[] = [];
  const thaw = async () => void steps.push('thaw');
  const stats = new FrozenStats(
    {
      freeze: async (_, maxMs) => {
        steps.push(`freeze ${maxMs}`);
        return isFreezable ? { frozenAtMs: Date.now() + 1, [Symbol.asyncDispose]: thaw } : undefined;
      },
      rootDir: '/',
      logger: silentLogger,
    },
    {
      uses: {
        ofPod: async () => {
          steps.push('measure');
          return await use();
        },
      },
      files: { ofPod: async () => NO_FILES_OF_POD },
      volumes: new VolumeUse({ pathsOf: () => new Map([['v', directory]]), logger: silentLogger }),
    },
  );
  return { stats, steps, directory };
}

test('a pod’s volumes, layers and other files are measured while it is frozen', async (t) => {
  const { stats, steps } = start(t);
  const found = await stats.of(ready, pod, { maxMs: 5000, signal });
  assert.deepEqual(steps, ['freeze 5000', 'measure', 'thaw']);
  assert.deepEqual([found?.stats.isPartial, found?.stats.changes], [false, 'none']);
  assert.deepEqual(found?.stats.disks?.layers, { bytes: 7, inodes: 1 });
  assert.ok(found!.stats.disks!.kubelet.bytes >= 1 << 20);
  assert.ok(found!.emptyDirs.get('v')! >= 1 << 20);
});

test('a pod is thawed when its time is over or its measurement fails, and the measurement is partial', async (t) => {
  for (const use of [() => new Promise<never>(() => undefined), () => Promise.reject(new Error('no runtime'))]) {
    const { stats, steps } = start(t, { use });
    const found = await stats.of(ready, pod, { maxMs: 50, signal });
    assert.deepEqual(steps, ['freeze 50', 'measure', 'thaw']);
    assert.equal(found?.stats.isPartial, true);
  }
});

test('a pod that cannot be frozen is not measured', async (t) => {
  const { stats, steps } = start(t, { isFreezable: false });
  assert.equal(await stats.of(ready, pod, { maxMs: 50, signal }), undefined);
  assert.deepEqual(steps, ['freeze 50']);
});

test('pods are frozen one at a time', async (t) => {
  const gate = Promise.withResolvers<SandboxUse>();
  const { stats, steps } = start(t, { use: () => gate.promise });
  const both = [1, 2].map(() => stats.of(ready, pod, { maxMs: 5000, signal }));
  await new Promise(setImmediate);
  gate.resolve(layer as never);
  await Promise.all(both);
  assert.deepEqual(steps, ['freeze 5000', 'measure', 'thaw', 'freeze 5000', 'measure', 'thaw']);
});
