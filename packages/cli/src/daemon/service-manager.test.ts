import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger, sleep, waitFor } from '@podwright/base';
import { ServiceManager, serviceManagerOf } from './service-manager.ts';

function start(watchdogMs?: number): { manager: ServiceManager; sent: string[]; complaints: unknown[] } {
  const sent: string[] = [];
  const complaints: unknown[] = [];
  const logger = { ...silentLogger, error: (fields: object) => complaints.push(fields) };
  const manager = new ServiceManager({ notify: async (message) => void sent.push(message), watchdogMs, logger });
  return { manager, sent, complaints };
}

const until = (holds: () => boolean) =>
  waitFor(() => holds() || undefined, { intervalMs: 2, signal: AbortSignal.timeout(5000) });

test('READY is sent once, and later only the status', async () => {
  const { manager, sent } = start();
  await manager.ready('waiting');
  await manager.ready('running');
  assert.deepEqual(sent, ['READY=1\nSTATUS=waiting', 'STATUS=running']);
});

test('the watchdog is notified only as long as the daemon is healthy', async () => {
  const { manager, sent, complaints } = start(10);
  let unhealthyReason: string | undefined;
  manager.watch(() => unhealthyReason);
  await until(() => sent.length >= 2);
  unhealthyReason = 'sync Loop took longer than expected';
  const before = sent.length;
  await until(() => complaints.length >= 2);
  assert.equal(sent.length, before);
  unhealthyReason = undefined;
  await until(() => sent.length > before);
  await manager.stop();
  assert.equal(sent.at(-1), 'STOPPING=1');
  assert.ok(sent.slice(0, -1).every((message) => message === 'WATCHDOG=1'));
});

test('restarting in the same process does not stop the service, and ends watchdog notifications', async () => {
  const { manager, sent } = start(10);
  manager.watch(() => undefined);
  await until(() => sent.length >= 1);
  await manager.stop({ restart: true });
  const before = sent.length;
  assert.equal(sent.at(-1), 'STATUS=restarting');
  await sleep(30);
  assert.equal(sent.length, before);
});

test('the watchdog is not notified if it is unset or meant for another process', () => {
  for (const environment of [
    {},
    { NOTIFY_SOCKET: '/s' },
    { NOTIFY_SOCKET: '/s', WATCHDOG_USEC: '9', WATCHDOG_PID: '1' },
  ])
    serviceManagerOf(environment, silentLogger).watch(() => assert.fail());
});

test('systemd’s variables are removed from the environment, and an invalid watchdog is rejected', () => {
  const environment = { NOTIFY_SOCKET: '/s', WATCHDOG_USEC: '1000000', PATH: '/bin' };
  assert.throws(() => serviceManagerOf(environment, silentLogger), { code: 'invalid_argument' });
  assert.deepEqual(environment, { PATH: '/bin' });
});
