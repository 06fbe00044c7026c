import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Health } from '@podwright/api-documents';
import { MemoryStore } from '@podwright/api-machinery';
import { ServerHealth } from './health-checks.ts';

const request = (path: string, query = '') => ({
  method: 'GET',
  path,
  query: new URLSearchParams(query),
  header: () => '',
});

test('the checks report the state of the server', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pw-health-'));
  let nowMs = 1000;
  const health = new ServerHealth({ directory, store: new MemoryStore(), now: () => nowMs });
  const failedOf = async (endpoint: string) => {
    const response = await new Health(health.checks, () => undefined).respond(request(`/${endpoint}`, 'verbose'));
    const failed = String(response?.body).matchAll(/^\[-\](\S+)/gm);
    return [response?.status, ...[...failed].map(([, name]) => name)];
  };
  assert.deepEqual(await failedOf('livez'), [500, 'controllers']);
  health.controllersStarted();
  health.certificates = { expiresAtMs: 2000 };
  for (const endpoint of ['livez', 'readyz', 'healthz']) assert.deepEqual(await failedOf(endpoint), [200], endpoint);
  nowMs = 3000;
  assert.deepEqual(await failedOf('readyz'), [500, 'serving-certificate']);
  nowMs = 1000;
  rmSync(directory, { recursive: true });
  assert.deepEqual(await failedOf('readyz'), [500, 'store']);
  assert.deepEqual(await failedOf('livez'), [200]);
  health.controllerEnded();
  assert.deepEqual(await failedOf('livez'), [500, 'controllers']);
});

test('a stopping server is alive but not ready', async () => {
  const health = new ServerHealth({ directory: tmpdir(), store: new MemoryStore(), now: Date.now });
  health.controllersStarted();
  health.stopping();
  health.controllerEnded();
  const statusOf = async (endpoint: string) =>
    (await new Health(health.checks, () => undefined).respond(request(endpoint)))?.status;
  assert.equal(await statusOf('/livez'), 200);
  assert.equal(await statusOf('/readyz'), 500);
  assert.equal(await statusOf('/readyz/shutdown'), 500);
});
