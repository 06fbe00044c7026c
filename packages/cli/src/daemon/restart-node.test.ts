import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PRIVATE_DIRECTORY } from '@podwright/base';
import { nodePaths } from '../settings/node-paths.ts';
import { restartNode } from './restart-node.ts';

const INFO = {
  ...{ name: 'n', version: '0.0.9', pid: process.pid, manifestDir: '', podLogsDir: '' },
  runtime: { name: 'r', version: '1', apiVersion: 'v1', endpoint: '' },
};

/** A node run by a systemd unit, and a fake systemctl that records its calls and exits with `exitCode` on a restart. */
async function unitNode(t: TestContext, exitCode: number) {
  const directory = mkdtempSync('/tmp/restart-node-');
  const [calls, config] = [join(directory, 'calls'), nodePaths({ root: directory, state: directory })];
  const script = `#!/bin/sh\necho "$*" >>${calls}\n[ "$1" = restart ] || exit 0\necho broken >&2\nexit ${exitCode}\n`;
  writeFileSync(join(directory, 'systemctl'), script, { mode: PRIVATE_DIRECTORY });
  const server = createServer(({ url }, response) => {
    assert.equal(url, '/podwright/v1/node');
    const startedAt = existsSync(calls) ? 'later' : 'before';
    response.end(JSON.stringify({ ...INFO, startedAt }));
  });
  await new Promise<void>((resolve) => server.listen(config.apiSocket, resolve));
  const path = process.env.PATH;
  process.env.PATH = `${directory}:${path}`;
  t.after(() => {
    process.env.PATH = path;
    server.close();
    rmSync(directory, { recursive: true });
  });
  const command = { file: '', args: [], directory: '/', environment: {} };
  const node = {
    info: { ...INFO, startedAt: 'before', localApiVersion: 1 },
    start: '1',
    unit: 'pods.service',
    command,
  };
  return { restarted: () => restartNode(config, node), calls: () => readFileSync(calls, 'utf8') };
}

test('a node’s unit is restarted by systemd after a daemon-reload', async (t) => {
  const { restarted, calls } = await unitNode(t, 0);
  await restarted();
  assert.equal(calls(), 'daemon-reload\nrestart pods.service\n');
});

test('a unit that fails to start is an error with systemctl’s message', async (t) => {
  const { restarted } = await unitNode(t, 1);
  await assert.rejects(restarted(), { code: 'unavailable', message: 'systemctl restart pods.service: broken' });
});
