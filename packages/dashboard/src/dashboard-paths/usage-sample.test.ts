import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleOf } from './usage-sample.ts';

test('a sample contains the node’s part of the summary', () => {
  const summary = {
    node: {
      cpu: { usageNanoCores: 5 },
      memory: { workingSetBytes: 6 },
      fs: { usedBytes: 1, capacityBytes: 2, inodesUsed: 3, inodes: 4 },
      runtime: { imageFs: { usedBytes: 7, capacityBytes: 8 } },
      network: { name: 'eth0', rxBytes: 9, txBytes: 10 },
    },
    pods: [{}, {}],
  };
  assert.deepEqual(sampleOf(summary, 11), {
    time: 11,
    cpuNanoCores: 5,
    memoryWorkingSetBytes: 6,
    rootfs: { usedBytes: 1, capacityBytes: 2, inodesUsed: 3, inodes: 4 },
    images: { usedBytes: 7, capacityBytes: 8 },
    network: { receivedBytes: 9, sentBytes: 10 },
    pods: 2,
  });
});

test('values a node does not report are 0', () => {
  const empty = sampleOf({}, 1);
  assert.deepEqual(sampleOf({ node: { cpu: { usageNanoCores: 'x' }, memory: [], fs: null }, pods: {} }, 1), empty);
  assert.deepEqual([empty.cpuNanoCores, empty.images.usedBytes, empty.network.sentBytes, empty.pods], [0, 0, 0, 0]);
});
