import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import { LocalServer } from './local-server.ts';
import type { NodeBackend } from './node-backend.ts';

test('the log file is closed when a client disconnects during backpressure', async (context) => {
  const directory = mkdtempSync('/tmp/local-server-');
  context.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, '0.log');
  const line = `2026-01-01T00:00:00.000000000Z stdout F ${'x'.repeat(8000)}\n`;
  writeFileSync(path, line.repeat(1000));
  const backend: Partial<NodeBackend> = { log: async () => ({ path, ended: new AbortController().signal }) };
  const socketPath = join(directory, 'node.sock');
  const server = new LocalServer({ socketPath, backend: backend as NodeBackend, logger: silentLogger });
  await server.listen();
  context.after(() => server.close());

  const client = connect(socketPath);
  client.pause();
  client.write('GET /api/v1/namespaces/default/pods/a/log?follow=true HTTP/1.1\r\nHost: node\r\n\r\n');
  using signal = withTimeout(undefined, 10_000, 'wait for the log file');
  await waitFor(() => isOpen(path) || undefined, { intervalMs: 5, signal });
  client.destroy();
  await waitFor(() => !isOpen(path) || undefined, { intervalMs: 5, signal });
  assert.equal(isOpen(path), false);
});

function isOpen(path: string): boolean {
  return readdirSync('/proc/self/fd').some((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
    } catch {
      return false; // closed meanwhile
    }
  });
}
