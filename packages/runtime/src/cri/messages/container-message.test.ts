import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerConfigSchema, ContainerFilterSchema, ContainerState, create } from '@podwright/cri';
import type { ContainerRecord, ContainerState as State } from '../../records/container-record.ts';
import { containerConfig } from './container-config.ts';
import { criContainerStatus, matchesContainer } from './container-message.ts';

const config = containerConfig(
  create(ContainerConfigSchema, { metadata: { name: 'c' }, image: { image: 'busybox:1' }, labels: { app: 'web' } }),
);
const record = (state: State): ContainerRecord => ({
  id: 'c1',
  name: 'n',
  sandboxId: 's1',
  config,
  image: { id: 'sha256:1', repoDigest: 'busybox@sha256:2', config: {} },
  user: { uid: 7, gid: 8, additionalGids: [8, 9] },
  logPath: '/log',
  stopSignal: 'SIGTERM',
  state,
  createdAtMs: 1000.5,
});
const images = { find: () => undefined };
const end = { startedAtMs: 1500, finishedAtMs: 2000, exitCode: 3, reason: 'Error', message: '' };

test('each container phase is reported as a CRI state', () => {
  const state = (phase: State) => criContainerStatus(record(phase), images).state;
  assert.equal(state({ phase: 'created' }), ContainerState.CONTAINER_CREATED);
  assert.equal(state({ phase: 'starting' }), ContainerState.CONTAINER_CREATED);
  assert.equal(state({ phase: 'running', pid: 1, startedAtMs: 1 }), ContainerState.CONTAINER_RUNNING);
  assert.equal(state({ phase: 'exited', ...end }), ContainerState.CONTAINER_EXITED);
  assert.equal(state({ phase: 'removing', end }), ContainerState.CONTAINER_EXITED);
});

test('a status has times in nanoseconds, the exit details and the user', () => {
  const status = criContainerStatus(record({ phase: 'exited', ...end }), images);
  assert.equal(status.createdAt, 1_000_500_000n);
  assert.equal(status.startedAt, 1_500_000_000n);
  assert.equal(status.finishedAt, 2_000_000_000n);
  assert.equal(status.exitCode, 3);
  assert.equal(status.imageRef, 'busybox@sha256:2');
  assert.deepEqual(status.user?.linux?.supplementalGroups, [8n, 9n]);
});

test('a filter matches containers with all its labels, its sandbox and its state', () => {
  const running = record({ phase: 'running', pid: 1, startedAtMs: 1 });
  const check = (filter: object, expected: boolean) =>
    assert.equal(matchesContainer(running, create(ContainerFilterSchema, filter)), expected, JSON.stringify(filter));
  check({}, true);
  check({ labelSelector: { app: 'web' } }, true);
  check({ labelSelector: { app: 'web', tier: 'x' } }, false);
  check({ podSandboxId: 's1', state: { state: ContainerState.CONTAINER_RUNNING } }, true);
  check({ podSandboxId: 's2' }, false);
  check({ state: { state: ContainerState.CONTAINER_EXITED } }, false);
});
