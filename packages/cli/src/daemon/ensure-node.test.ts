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

/** A daemon that begins and never serves; it says when it is asked to end. */
const DAEMON = `process.on('SIGTERM', () => { console.log('asked to end'); process.exit(); });
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
  const starting = ensureNode(context, { first: first.signal, last: last.signal }).catch((error: unknown) => error);
  const told = async (what: RegExp) => {
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
  const pid = Number((await told(/process (\d+)\n/))[1]);
  t.after(() => {
    process.argv[1] = argument;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {} // it has ended
    rmSync(root, { recursive: true });
  });
  return { starting, told, readLog, first, last, pid };
}

test('a node that takes long to start goes on, and is told with its log', async (t) => {
  const { starting, readLog, pid } = await slowStart(t);
  t.mock.timers.tick(NODE_START_TIMEOUT_MS);
  const error = (await starting) as Error;
  assert.match(error.message, /^start the node \(it goes on; its log is \/tmp\/ensure-.*node\.log\): no answer within/);
  for await (const round of setInterval(50, performance.now())) if (performance.now() - round > 300) break;
  assert.doesNotMatch(readLog(), /asked to end/);
  process.kill(pid, 0);
});

test('a node that is not wanted any more is asked to end, in time or not', async (t) => {
  const late = await slowStart(t);
  late.first.abort(new Error('Ctrl-C'));
  t.mock.timers.tick(NODE_START_TIMEOUT_MS);
  await late.told(/asked to end/);
});

test('a node that comes up is asked to end at once at the last interrupt', async (t) => {
  const { first, last, told, starting } = await slowStart(t);
  first.abort(new Error('Ctrl-C'));
  last.abort(new Error('again'));
  await told(/asked to end/);
  assert.equal(((await starting) as Error).message, 'again');
});

test('a node that has exited is not waited for until the init process reaps it', { timeout: 10_000 }, async (t) => {
  const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 1000']); // which reaps no child of its shell
  t.after(() => parent.kill('SIGKILL'));
  const [pid] = await once(parent.stdout, 'data');
  const client = { node: async () => ({ pid: Number(pid) }), stop: async () => undefined } as unknown as NodeClient;
  await stopNode(client, { removeHostState: false, endPods: false });
  assert.ok(process.kill(Number(pid), 0)); // its number is there still
});
