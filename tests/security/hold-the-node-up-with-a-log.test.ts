/** A container that writes byte by byte produces a log with millions of entries: reading its end must be cheap. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import { NodeClient } from '../../packages/cli/src/client/node-client.ts';
import { terminationMessage } from '../../packages/kubelet/src/container/termination-message.ts';
import { LocalServer } from '../../packages/node-api/src/local-server.ts';
import type { NodeBackend } from '../../packages/node-api/src/node-backend.ts';
import { longestStallMs } from './longest-stall.fixture.ts';

/**
 * Time limit in ms for reading the end of the log, which takes a twentieth of this on a fast host; with one read per log entry, it would
 * take half a minute.
 */
const PATIENCE_MS = 5000;
const ENTRIES = 1_000_000;
const piece = '2026-01-01T00:00:00.000000000Z stdout P x\n';
const line = '2026-01-01T00:00:00.000000000Z stdout F the end\n';

let directory: string;
let path: string;
let client: NodeClient;
let server: LocalServer;
before(async () => {
  directory = mkdtempSync('/tmp/hostile-log-');
  path = join(directory, '0.log');
  writeFileSync(path, piece.repeat(ENTRIES));
  const backend: Partial<NodeBackend> = { log: async () => ({ path, ended: AbortSignal.abort() }) };
  const socketPath = join(directory, 'node.sock');
  server = new LocalServer({ socketPath, backend: backend as NodeBackend, logger: silentLogger });
  await server.listen();
  client = new NodeClient(socketPath);
});
after(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

/** Runs `work`, which must not exceed a time limit or block the event loop for long. */
async function quickly<T>(work: () => Promise<T>): Promise<T> {
  const startedAtMs = performance.now();
  let result: Promise<T> | undefined;
  const stallMs = await longestStallMs(() => (result = work()));
  const tookMs = performance.now() - startedAtMs;
  assert.ok(tookMs < PATIENCE_MS, `it took ${tookMs} ms`);
  assert.ok(stallMs < 1000, `the event loop was blocked for ${stallMs} ms`);
  return result!;
}

const log = async (tailLines: number) => {
  const chunks: Buffer[] = [];
  for await (const chunk of await client.log({ namespace: 'default', name: 'a' }, { tailLines })) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

test('the message of a failed container is the end of its log, up to the limit', async () => {
  const ended = { messagePath: '', policy: 'FallbackToLogsOnError', exitCode: 1, logPath: path } as const;
  assert.equal(await quickly(() => terminationMessage(ended)), 'x'.repeat(2048));
});

test('the last line is found without reading the whole log', async () => {
  const text = await quickly(() => log(1));
  assert.match(text, /^x{1000,}$/);
  appendFileSync(path, line.repeat(3));
  assert.equal(await quickly(() => log(2)), 'the end\nthe end\n');
});

test('the search stops when the client disconnects', async () => {
  const disconnected = new AbortController();
  const reading = client.log({ namespace: 'default', name: 'a' }, { tailLines: 1_000_000 }, disconnected.signal);
  using deadline = withTimeout(undefined, PATIENCE_MS, 'wait for the log file');
  await waitFor(() => isOpen() || undefined, { intervalMs: 1, signal: deadline });
  disconnected.abort();
  await assert.rejects(reading);
  await waitFor(() => !isOpen() || undefined, { intervalMs: 5, signal: deadline });
});

test('an entire log of partial lines is sent without blocking the event loop', async () => {
  const reading = await client.log({ namespace: 'default', name: 'a' }, {});
  let textBytes = 0;
  const stallMs = await longestStallMs(async () => {
    for await (const chunk of reading) textBytes += chunk.length;
  });
  assert.equal(textBytes, ENTRIES + 3 * 'the end\n'.length);
  assert.ok(stallMs < 1000, `the event loop was blocked for ${stallMs} ms`);
});

function isOpen(): boolean {
  return readdirSync('/proc/self/fd').some((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
    } catch {
      return false; // closed meanwhile
    }
  });
}
