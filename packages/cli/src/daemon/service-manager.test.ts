import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { ServiceManager, serviceManagerOf } from './service-manager.ts';

function start(watchdogMs?: number): { manager: ServiceManager; told: string[]; complaints: unknown[] } {
  const told: string[] = [];
  const complaints: unknown[] = [];
  const logger = { ...silentLogger, error: (fields: object) => complaints.push(fields) };
  const manager = new ServiceManager({ notify: async (message) => void told.push(message), watchdogMs, logger });
  return { manager, told, complaints };
}

const until = (holds: () => boolean) =>
  waitFor(() => holds() || undefined, { intervalMs: 2, signal: AbortSignal.timeout(5000) });

test('a daemon is up once, and says afterwards how it is', async () => {
  const { manager, told } = start();
  await manager.ready('waiting');
  await manager.ready('running');
  assert.deepEqual(told, ['READY=1\nSTATUS=waiting', 'STATUS=running']);
});

test('the watchdog is fed while all is well, and no more when it is not', async () => {
  const { manager, told, complaints } = start(10);
  let unhealthyReason: string | undefined;
  manager.watch(() => unhealthyReason);
  await until(() => told.length >= 2);
  unhealthyReason = 'sync Loop took longer than expected';
  const fed = told.length;
  await until(() => complaints.length >= 2);
  assert.equal(told.length, fed);
  unhealthyReason = undefined;
  await until(() => told.length > fed);
  await manager.stop();
  assert.equal(told.at(-1), 'STOPPING=1');
  assert.ok(told.slice(0, -1).every((message) => message === 'WATCHDOG=1'));
});

test('without a watchdog, or one for another process, none is fed', () => {
  for (const environment of [
    {},
    { NOTIFY_SOCKET: '/s' },
    { NOTIFY_SOCKET: '/s', WATCHDOG_USEC: '9', WATCHDOG_PID: '1' },
  ])
    serviceManagerOf(environment, silentLogger).watch(() => assert.fail());
});

test('what the environment says is taken out of it, and must make sense', () => {
  const environment = { NOTIFY_SOCKET: '/s', WATCHDOG_USEC: '1000000', PATH: '/bin' };
  assert.throws(() => serviceManagerOf(environment, silentLogger), { code: 'invalid_argument' });
  assert.deepEqual(environment, { PATH: '/bin' });
});
