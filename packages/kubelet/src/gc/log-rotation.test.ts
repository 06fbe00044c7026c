import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Logger } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { RuntimeContainer } from '../kubecontainer/runtime-pod.ts';
import { rotateLogs } from './log-rotation.ts';

const directory = mkdtempSync(join(tmpdir(), 'podwright-rotation-'));
after(() => rmSync(directory, { recursive: true }));
const logs = join(directory, 'pod', 'container');
const log = join(logs, '0.log');
const rotated = `${log}.20260101-000000`;
const secret = join(directory, 'secret');

beforeEach(() => {
  rmSync(join(directory, 'pod'), { recursive: true, force: true });
  mkdirSync(logs, { recursive: true });
  writeFileSync(log, 'a line\n');
  writeFileSync(secret, 'secret');
});

async function rotate(): Promise<string[]> {
  const warnings: unknown[] = [];
  const cri = { runtime: { reopenContainerLog: async () => ({}) } } as unknown as CriClient;
  const logger = { warn: (fields: unknown) => warnings.push(fields) } as unknown as Logger;
  const container = { id: 'c', logPath: log, state: 'running' } as RuntimeContainer;
  await rotateLogs({ cri, logger, policy: { maxSizeBytes: 1, maxFiles: 5 } }, [container]);
  assert.deepEqual(warnings, []);
  assert.equal(readFileSync(secret, 'utf8'), 'secret');
  return readdirSync(logs).filter((name) => name.startsWith('0.log.2026010'));
}

test('a rotated log is compressed', async () => {
  writeFileSync(rotated, 'before\n');
  assert.deepEqual(await rotate(), ['0.log.20260101-000000.gz']);
  assert.equal(gunzipSync(readFileSync(`${rotated}.gz`)).toString(), 'before\n');
});

test('a link in the place of the temporary file is not written through', async () => {
  writeFileSync(rotated, 'before\n');
  symlinkSync(secret, `${rotated}.tmp`);
  assert.deepEqual(await rotate(), ['0.log.20260101-000000.gz']);
});

test('a link in the place of a rotated log is not read', async () => {
  symlinkSync(secret, rotated);
  assert.deepEqual(await rotate(), ['0.log.20260101-000000']);
});
