import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { PodwrightError, silentLogger, waitFor } from '@podwright/base';
import type { NetlinkMessage, NetlinkRequest, NetlinkSocket } from '@podwright/system';
import { RuleLedger } from './ledger/rule-ledger.ts';
import { RuleLoop } from './rule-loop.ts';

/** A fake netlink socket. Its kernel counts ruleset generations, and rejects the next `failures` transactions. */
class FakeSocket {
  generation = 0;
  failures = 0;
  readonly transactions: NetlinkRequest[][] = [];
  isClosed = false;

  async request(requests: readonly NetlinkRequest[]): Promise<Partial<NetlinkMessage>[][]> {
    if (requests.length === 1) {
      const attribute = Buffer.from([8, 0, 1, 0, 0, 0, 0, this.generation]);
      return [[{ body: Buffer.concat([Buffer.alloc(4), attribute]) }]];
    }
    if (this.failures > 0) {
      this.failures -= 1;
      throw new PodwrightError('resource_exhausted', 'change the table: out of memory');
    }
    this.transactions.push([...requests]);
    this.generation += 1;
    return requests.map(() => []);
  }

  close(): void {
    this.isClosed = true;
  }
}

function create(socket: FakeSocket) {
  const ledger = new RuleLedger([{ name: 's', key: ['mark'], elements: [] }]);
  const loop = new RuleLoop({
    ...{ table: 't', socket: socket as unknown as NetlinkSocket, ledger, logger: silentLogger, checkIntervalMs: 1e6 },
    refresh: () => undefined,
    frame: () => [],
  });
  let next = 0;
  const add = () => {
    next += 1;
    const element = { set: 's', key: Buffer.from([next, 0, 0, 0]) };
    ledger.replace({ key: String(next), rank: '' }, { elements: [element], chains: [], sets: [] });
    loop.changed();
  };
  return { loop, add };
}

const until = (condition: () => boolean) =>
  waitFor(() => condition() || undefined, { intervalMs: 1, signal: AbortSignal.timeout(10_000) });

test('changes in quick succession share one transaction, and a stop closes the socket', async () => {
  const socket = new FakeSocket();
  const { loop, add } = create(socket);
  loop.start([]);
  await loop.synced;
  assert.equal(loop.problem(), undefined);
  for (let count = 0; count < 100; count += 1) add();
  await until(() => socket.transactions.length === 2);
  await loop.stop({ removeRules: false });
  assert.deepEqual([socket.transactions.length, socket.isClosed], [2, true]);
});

test('a change after a quiet period is applied at once, without waiting for further ones', async () => {
  const socket = new FakeSocket();
  const { loop, add } = create(socket);
  loop.start([]);
  await loop.synced;
  const quietAtMs = performance.now() + 10;
  await until(() => performance.now() >= quietAtMs);
  add();
  await setImmediate(); // timers expire later than this
  assert.equal(socket.transactions.length, 2);
  await loop.stop({ removeRules: false });
});

test('after a rejected change the table is replaced; if that fails, it is reported until an attempt succeeds', async () => {
  const socket = new FakeSocket();
  const { loop, add } = create(socket);
  loop.start([]);
  await loop.synced;
  socket.failures = 2; // the change, and the replacement
  add();
  await until(() => loop.problem() !== undefined);
  assert.match(loop.problem()!, /out of memory/);
  await until(() => loop.problem() === undefined);
  assert.equal(socket.transactions.length, 2);
  assert.ok(socket.transactions[1]!.some(({ what }) => what === 'remove the table t'));
  await loop.stop({ removeRules: true });
  assert.equal(socket.transactions.length, 3);
});

test('a loop that is stopped before all objects have been read creates no rules', async () => {
  const socket = new FakeSocket();
  const { loop } = create(socket);
  const synced = Promise.reject(new Error('stopped'));
  loop.start([{ synced } as never]);
  await loop.stop({ removeRules: false });
  await assert.rejects(loop.synced, /no longer kept/);
  assert.equal(socket.transactions.length, 0);
});
