import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setInterval } from 'node:timers/promises';
import type { NodeClient } from '../client/node-client.ts';
import { NODE_START_TIMEOUT_MS } from '../limits.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { ensureNode, stopNode } from './ensure-node.ts';

/** A fake daemon that starts but never serves its API. It logs each SIGTERM it receives. */
const DAEMON = `process.on('SIGTERM', () => { console.log('terminating'); process.exit(); });
setTimeout(() => undefined, 60_000);
console.log('process ' + process.pid);`;

async function slowStart(t: TestContext) {
  const root = mkdtempSync('/tmp/ensure-');
  const program = join(root, 'daemon.js');
  writeFileSync(program, DAEMON);
  t.mock.method(process as { getuid: () => number }, 'getuid', () => 0);
  const argument = process.argv[1]!;
  process.argv[1] = program;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const config = { apiSocket: join(root, 'node.sock'), root };
  const context = { config, configArgs: [], settings: async () => ({}) } as unknown as CommandContext;
  const [first, last] = [new AbortController(), new AbortController()];
  const starting = ensureNode(context, { interrupts: { first: first.signal, last: last.signal } }).catch(
    (error: unknown) => error,
  );
  const logged = async (what: RegExp) => {
    let rounds = 0;
    for await (const _tick of setInterval(20)) {
      const found = what.exec(readLog());
      if (found !== null) return found;
      assert.ok(rounds++ < 1000, readLog());
    }
    throw new Error('no interval');
  };
  const readLog = () => {
    try {
      return readFileSync(join(root, 'node.log'), 'utf8');
    } catch {
      return '';
    }
  };
  const pid = Number((await logged(/process (\d+)\n/))[1]);
  t.after(() => {
    process.argv[1] = argument;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {} // it has exited
    rmSync(root, { recursive: true });
  });
  return { starting, logged, readLog, first, last, pid };
}

test('a slowly starting node is not stopped, and the error names its log', async (t) => {
  const { starting, readLog, pid } = await slowStart(t);
  t.mock.timers.tick(NODE_START_TIMEOUT_MS);
  const error = (await starting) as Error;
  assert.match(
    error.message,
    /^start the node \(it continues to start; its log is \/tmp\/ensure-.*node\.log\): no answer within/,
  );
  for await (const round of setInterval(50, performance.now())) if (performance.now() - round > 300) break;
  assert.doesNotMatch(readLog(), /terminating/);
  process.kill(pid, 0);
});

test('after an interrupt, a node that starts too slowly is terminated', async (t) => {
  const late = await slowStart(t);
  late.first.abort(new Error('Ctrl-C'));
  t.mock.timers.tick(NODE_START_TIMEOUT_MS);
  await late.logged(/terminating/);
});

test('the final interrupt terminates a starting node at once', async (t) => {
  const { first, last, logged, starting } = await slowStart(t);
  first.abort(new Error('Ctrl-C'));
  last.abort(new Error('again'));
  await logged(/terminating/);
  assert.equal(((await starting) as Error).message, 'again');
});

test('stopNode does not wait for the init process to reap the exited node', { timeout: 10_000 }, async (t) => {
  const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 1000']); // does not reap its child
  t.after(() => parent.kill('SIGKILL'));
  const [pid] = await once(parent.stdout, 'data');
  const client = { node: async () => ({ pid: Number(pid) }), stop: async () => undefined } as unknown as NodeClient;
  await stopNode(client, { removeHostState: false, endPods: false });
  assert.ok(process.kill(Number(pid), 0)); // its PID still exists
});
