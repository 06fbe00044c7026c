import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { RcuExpediting } from './rcu-expediting.ts';

const root = mkdtempSync(join(tmpdir(), 'podwright-rcu-'));
after(() => rmSync(root, { recursive: true }));
const file = join(root, 'switch');
const read = () => readFileSync(file, 'utf8').trim();

/** Writes `value` to the fake `rcu_expedited` switch, and creates the `RcuExpediting` of one container runtime. */
function open({ state = mkdtempSync(join(root, 'state-')), enabled = true, value = '0' } = {}) {
  writeFileSync(file, `${value}\n`);
  const messages: string[] = [];
  const logger = { ...silentLogger, warn: (_: object, message: string) => messages.push(message) };
  return { rcu: new RcuExpediting({ state, enabled, logger: logger as never, file }), state, messages };
}

test('the switch is on while any work is running, and off afterwards, even if the work fails', async () => {
  const { rcu, state } = open();
  const second = Promise.withResolvers<void>();
  const seen = await rcu.during(async () => {
    void rcu.during(() => second.promise);
    return read();
  });
  assert.match(seen, /^\d+$/);
  assert.notEqual(seen, '0');
  assert.equal(read(), seen); // the second work is still running
  assert.equal(readFileSync(join(state, 'rcu_expedited'), 'utf8'), seen);
  second.resolve();
  await second.promise;
  await new Promise(setImmediate);
  assert.equal(read(), '0');
  const failing = rcu.during(() => Promise.reject(new Error('no')));
  await assert.rejects(failing, /no/);
  assert.equal(read(), '0');
  rcu.close();
  assert.ok(!existsSync(join(state, 'rcu_expedited')));
});

test("another process's value of the switch stays, even if it is set during the work", async () => {
  const { rcu } = open({ value: '1' });
  assert.equal(await rcu.during(async () => read()), '1');
  assert.equal(read(), '1');
  writeFileSync(file, '0');
  await rcu.during(async () => writeFileSync(file, '1\n'));
  assert.equal(read(), '1');
  rcu.close();
  assert.equal(read(), '1');
});

test('two runtimes that work at the same time leave the switch off afterwards', async () => {
  const { rcu } = open();
  const { rcu: other } = open();
  const values = await rcu.during(async () => [read(), await other.during(async () => read())]);
  assert.equal(values[0], values[1]);
  assert.equal(read(), '0');
});

test('after a runtime was killed the next start resets its value of the switch, but no other value', async () => {
  const check = async (meanwhile: string | undefined, expected: string) => {
    const { rcu, state } = open();
    void rcu.during(() => new Promise(() => undefined));
    const value = meanwhile ?? read();
    open({ state, enabled: false, value });
    assert.equal(read(), expected);
    assert.ok(!existsSync(join(state, 'rcu_expedited')));
  };
  await check(undefined, '0');
  await check('1', '1');
});

test('work continues without expediting if that is disabled or impossible', async () => {
  const { rcu } = open({ enabled: false });
  assert.equal(await rcu.during(async () => read()), '0');
  const { rcu: without, messages } = open();
  rmSync(file);
  assert.equal(await without.during(async () => 1), 1);
  assert.equal(await without.during(async () => 2), 2);
  assert.deepEqual(messages, ['RCU grace periods cannot be expedited']);
});

test('work that never ends leaves the switch on only for a limited time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { rcu } = open();
  void rcu.during(() => new Promise(() => undefined));
  assert.notEqual(read(), '0');
  t.mock.timers.tick(60_000);
  assert.equal(read(), '0');
});
