import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import type { ContainerRecord } from '../records/container-record.ts';
import { DiskUse, type DiskUseDependencies } from './disk-use.ts';

const record = { id: 'c1', sandboxId: 's1', state: { phase: 'running' } } as ContainerRecord;

function diskUse(layerDirectory: () => Promise<string>, volumes: string[]): DiskUse {
  return new DiskUse({
    snapshotter: { layerDirectory },
    files: { imageVolumes: async () => volumes, snapshotKey: (id: string) => id },
    containers: { list: () => [] },
    sandboxes: { get: () => undefined },
  } as unknown as DiskUseDependencies);
}

test('container disk usage is the sum of writable layer and image volumes, with the older of their timestamps', async (t) => {
  const directory = mkdtempSync('/tmp/podwright-disk-use-');
  t.after(() => rmSync(directory, { recursive: true }));
  for (const name of ['layer', 'volume']) {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, 'file'), 'x');
  }
  const disk = diskUse(async () => join(directory, 'layer'), [join(directory, 'volume'), join(directory, 'removed')]);
  const before = Date.now();
  const { inodes, atMs, isPartial } = await disk.of(record);
  assert.deepEqual({ inodes, isPartial }, { inodes: 4, isPartial: false });
  assert.ok(atMs >= before && atMs <= Date.now());
});

test('a container with a removed layer uses no disk', async () => {
  const removed = async () => {
    throw new PodwrightError('not_found', 'snapshot c1 does not exist');
  };
  const { sizeBytes, inodes } = await diskUse(removed, []).of(record);
  assert.deepEqual({ sizeBytes, inodes }, { sizeBytes: 0, inodes: 0 });
});
