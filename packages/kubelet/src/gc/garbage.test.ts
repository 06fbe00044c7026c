import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { findGarbage } from './dead-containers.ts';
import { bytesToFree, type ImageRecord, imagesTooOld, imagesToRemove } from './image-garbage.ts';

/**
 * Returns the status of a pod with containers given as `name@createdAt:state`, newest first. They belong to the pod's newest sandbox unless
 * another one is given.
 */
function podOf(containers: string[], sandboxes: [string, boolean][] = [['s1', true]]): RuntimePodStatus {
  return {
    pod: { name: 'p', namespace: 'd', uid: 'u' },
    sandboxes: sandboxes.map(([id, ready]) => ({
      id,
      owner: { uid: 'u1', namespace: 'default', name: 'web', file: '' },
      ready,
      attempt: 0,
      createdAtMs: 0,
      hostNetwork: false,
      ips: [],
    })),
    containers: containers.map((text) => {
      const [id = '', state = '', sandboxId = 's1'] = text.split(':');
      const [name = '', created = ''] = id.split('@');
      return { id, name, state, sandboxId, createdAtMs: Number(created) } as RuntimeContainer;
    }),
  };
}

function check(
  pod: RuntimePodStatus,
  maxContainers: number,
  expected: { containers: string[]; sandboxes?: string[] },
): void {
  const { containers, sandboxIds } = findGarbage([pod], { maxPerContainer: 1, maxContainers, minAgeMs: 0 });
  assert.deepEqual(
    { containers: containers.map(({ id }) => id), sandboxes: sandboxIds },
    { sandboxes: [], ...expected },
  );
}

test('the newest container with a name and one dead predecessor are kept', () => {
  check(podOf(['a@3:running', 'a@2:exited', 'a@1:exited']), -1, { containers: ['a@1'] });
  check(podOf(['a@2:exited', 'a@1:exited', 'b@1:exited']), -1, { containers: [] });
});

test('over the total limit the oldest containers are removed, but never the newest one with a name', () => {
  check(podOf(['a@4:running', 'a@3:exited', 'b@2:exited', 'b@1:exited']), 1, { containers: ['b@1'] });
  check(podOf(['a@4:exited', 'a@3:exited', 'b@2:exited', 'b@1:exited']), 0, { containers: ['b@1', 'a@3'] });
});

test('a dead container younger than the minimum age is kept', () => {
  const pod = podOf(['a@900:running', 'a@800:exited', 'a@700:exited']);
  const garbageAt = (minAgeMs: number) =>
    findGarbage([pod], { maxPerContainer: 0, maxContainers: -1, minAgeMs }, 1000).containers.map(({ id }) => id);
  assert.deepEqual(garbageAt(0), ['a@700', 'a@800']);
  assert.deepEqual(garbageAt(300), ['a@700']);
});

test('running containers are never garbage, and containers in the unknown state only once replaced', () => {
  check(podOf(['a@2:running', 'a@1:running']), 0, { containers: [] });
  check(podOf(['a@1:unknown']), 0, { containers: [] });
  check(podOf(['a@2:running', 'a@1:unknown']), 0, { containers: ['a@1'] });
});

test('an old sandbox is removed unless it belongs to a remaining container', () => {
  const both: [string, boolean][] = [
    ['s1', true],
    ['s0', false],
  ];
  check(podOf(['a@2:running'], both), -1, { containers: [], sandboxes: ['s0'] });
  check(podOf(['a@2:running', 'a@1:exited:s0'], both), -1, { containers: [] });
  check(podOf(['a@3:running', 'a@2:exited', 'a@1:exited:s0'], both), -1, { containers: ['a@1'], sandboxes: ['s0'] });
  check(podOf([], [['s1', false]]), -1, { containers: [] });
});

test('images are removed only above the high threshold, down to the low threshold', () => {
  const policy = { highThresholdPercent: 85, lowThresholdPercent: 80, minAgeMs: 0 };
  assert.equal(bytesToFree({ capacityBytes: 1000n, availableBytes: 200n }, policy), 0n);
  assert.equal(bytesToFree({ capacityBytes: 1000n, availableBytes: 100n }, policy), 100n);
  assert.equal(bytesToFree({ capacityBytes: 0n, availableBytes: 0n }, policy), 0n);
});

test('the least recently used images are removed first; used, pinned and new images never', () => {
  const image = (id: string, rest: Partial<ImageRecord> = {}): ImageRecord => ({
    id,
    sizeBytes: 10n,
    pinned: false,
    firstSeenMs: 0,
    lastUsedMs: 0,
    ...rest,
  });
  const images = [
    image('late', { lastUsedMs: 9 }),
    image('early', { lastUsedMs: 1 }),
    image('pinned', { pinned: true }),
    image('used'),
    image('new', { firstSeenMs: 950 }),
  ];
  const choose = (bytes: bigint) =>
    imagesToRemove(images, bytes, { inUse: new Set(['used']), minAgeMs: 100, nowMs: 1000 });
  assert.deepEqual(choose(5n), ['early']);
  assert.deepEqual(choose(500n), ['early', 'late']);
});

test('images unused for longer than the maximum age are removed regardless of disk usage', () => {
  const image = (id: string, lastUsedMs: number, rest: Partial<ImageRecord> = {}): ImageRecord => ({
    id,
    sizeBytes: 10n,
    pinned: false,
    firstSeenMs: 0,
    lastUsedMs,
    ...rest,
  });
  const images = [
    image('old', 100),
    image('recent', 950),
    image('seen lately', 0, { firstSeenMs: 950 }),
    image('pinned', 0, { pinned: true }),
    image('used', 0),
  ];
  const old = (maxAgeMs: number) => imagesTooOld(images, { inUse: new Set(['used']), maxAgeMs, nowMs: 1000 });
  assert.deepEqual(old(100), ['old']);
  assert.deepEqual(old(0), []);
});
