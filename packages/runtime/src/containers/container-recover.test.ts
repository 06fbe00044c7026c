import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ContainerRecord } from '../records/container-record.ts';
import { recoverContainer } from './container-recover.ts';

type Context = Parameters<typeof recoverContainer>[0];

test('the exit of a running container is watched even if it cannot be thawed after an interrupted checkpoint', async () => {
  const checkpoint = mkdtempSync(join(tmpdir(), 'recover-'));
  const watched: string[] = [];
  const context = {
    tasks: {
      state: async () => ({ status: 'running', pid: 7 }),
      thaw: () => Promise.reject(new Error('the runtime does not answer')),
    },
    files: { checkpoint: () => checkpoint },
    exits: { watch: (id: string) => watched.push(id) },
  } as unknown as Context;
  const record = { id: 'c', state: { phase: 'running', pid: 7, startedAtMs: 1 } } as ContainerRecord;
  try {
    await assert.rejects(recoverContainer(context, record), /does not answer/);
    assert.deepEqual(watched, ['c']);
  } finally {
    rmSync(checkpoint, { recursive: true });
  }
});

test('the exit of a running container is watched even if its task state is unreadable', async () => {
  const watched: string[] = [];
  const context = {
    tasks: { state: () => Promise.reject(new Error('the shim does not answer')) },
    exits: { watch: (id: string) => watched.push(id) },
  } as unknown as Context;
  const record = { id: 'c', state: { phase: 'running', pid: 7, startedAtMs: 1 } } as ContainerRecord;
  await assert.rejects(recoverContainer(context, record), /does not answer/);
  assert.deepEqual(watched, ['c']);
});

test('the exit of a container that exited before the restart is watched if it cannot be recorded yet', async () => {
  const watched: string[] = [];
  const context = {
    table: {
      put: () => {
        throw new Error('the disk fails');
      },
    },
    tasks: { state: async () => ({ status: 'exited', exit: { exitCode: 7, exitedAtMs: 2, oomKilled: false } }) },
    exits: { watch: (id: string) => watched.push(id) },
  } as unknown as Context;
  const record = { id: 'c', state: { phase: 'running', pid: 7, startedAtMs: 1 } } as ContainerRecord;
  await assert.rejects(recoverContainer(context, record), /the disk fails/);
  assert.deepEqual(watched, ['c']);
});
