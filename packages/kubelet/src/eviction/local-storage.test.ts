import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { DiskLayout } from '@podwright/kubelet-configuration';
import { emptyDirExcess, storageExcess } from './local-storage.ts';
import { type GivenPod, type GivenUse, podOf, statsOf } from './pods.fixture.ts';

function check(pod: GivenPod, use: GivenUse, expected: string | undefined, layout: DiskLayout = 'shared'): void {
  assert.equal(storageExcess(podOf('a', pod), statsOf('a', use), layout)?.message, expected);
}

const limited = (limit: string): GivenPod => ({ limits: { 'ephemeral-storage': limit } });

test('a pod may use as much disk as the sum of its containers’ limits', () => {
  const over = 'Pod ephemeral local storage usage exceeds the total limit of containers 10Mi. ';
  check(limited('10Mi'), { root: 5, logs: 3, volume: 3 }, over);
  check(limited('10Mi'), { root: 5, logs: 3, volume: 2 }, undefined);
  check({}, { root: 500 }, undefined);
});

test('a container’s layers and logs count towards its limit, volumes do not', () => {
  const [free, small] = [
    { name: 'free', image: 'i', resources: { limits: { 'ephemeral-storage': '1Gi' } } },
    { name: 'main', image: 'i', resources: { limits: { 'ephemeral-storage': '10Mi' } } },
  ];
  const pod = { spec: { containers: [free, small] } };
  const over = 'Container main exceeded its local ephemeral storage limit "10Mi". ';
  check(pod, { root: 6, logs: 5 }, over);
  check(pod, { volume: 100 }, undefined);
  // with the layout `images`, container layers are not on the kubelet's file system, so they do not count
  check(pod, { root: 60, logs: 5 }, undefined, 'images');
  check(pod, { logs: 11 }, over, 'images');
});

test('deleted but open files count towards emptyDir limits, and are searched for once and only if needed', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-empty-dirs-'));
  context.after(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'file'), Buffer.alloc(200_000, 'x'));
  const scans = async (limits: string[], heldBytes: number, expected: string | undefined) => {
    const volumes = limits.map((sizeLimit, index) => ({ name: `v${index}`, emptyDir: { sizeLimit } }));
    const paths = new Map(volumes.map(({ name }) => [name, directory]));
    const last = volumes.at(-1)!.name;
    let count = 0;
    const held = async () => {
      count++;
      return new Map([[last, { bytes: heldBytes, inodes: 1 }]]);
    };
    const pod = podOf('a', { spec: { containers: [], volumes } });
    const { excess, isPartial, changedAtMs } = await emptyDirExcess(pod, { paths, held });
    assert.ok(!isPartial && Date.now() - changedAtMs! < 60_000);
    assert.equal(excess?.message.split('"')[1], expected);
    return count;
  };
  assert.equal(await scans(['100k', '1M'], 0, 'v0'), 0);
  assert.equal(await scans(['1M', '1M', '1M'], 0, undefined), 1);
  assert.equal(await scans(['1M', '1M', '1M'], 900_000, 'v2'), 1);
});
