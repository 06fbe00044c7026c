import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import { LEASES } from '@podwright/kube-client';
import { FakeKubeClient, refusal } from '@podwright/kube-client/testing';
import { decideLease, type LeaderLease, type SeenLease } from './framework/decide-lease.ts';
import { runAsLeader } from './leader-election.ts';

const PLACE = { namespace: 'kube-system', name: 'own' };

function decide(lease: LeaderLease | undefined, nowMs: number, seen?: SeenLease) {
  return decideLease({ lease, seen, identity: 'me', nowMs, unixMs: 0 });
}

const held = (spec: LeaderLease['spec']): LeaderLease => ({ metadata: PLACE, spec });

test('a Lease that is free, released or already held is acquired', () => {
  assert.equal(decide(undefined, 0).spec?.leaseTransitions, 0);
  assert.equal(decide(held({ holderIdentity: '', leaseTransitions: 2 }), 0).spec?.leaseTransitions, 3);
  const own = held({ holderIdentity: 'me', acquireTime: 'then', leaseTransitions: 2 });
  const { spec } = decide(own, 0);
  assert.deepEqual(
    [spec?.acquireTime, spec?.leaseTransitions, spec?.renewTime],
    ['then', 2, '1970-01-01T00:00:00.000000Z'],
  );
});

test('another holder’s Lease is acquired if it has not been renewed for its duration by the local clock', () => {
  const lease = held({ holderIdentity: 'other', leaseDurationSeconds: 15, renewTime: '1999-01-01T00:00:00Z' });
  const first = decide(lease, 1000);
  assert.equal(first.spec, undefined);
  const second = decide(lease, 16_000, first.seen);
  assert.equal(second.spec, undefined);
  assert.equal(decide(lease, 16_001, second.seen).spec?.holderIdentity, 'me');
  const renewed = held({ ...lease.spec, renewTime: '1999-01-01T00:00:02Z' });
  assert.equal(decide(renewed, 16_001, second.seen).spec, undefined);
});

function elect(client: FakeKubeClient, identity: string) {
  const abort = new AbortController();
  const log: string[] = [];
  const ended = runAsLeader(
    { client, lease: PLACE, identity, logger: silentLogger, signal: abort.signal },
    async (signal) => {
      log.push('leads');
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      log.push('ended');
    },
  );
  const stop = () => {
    abort.abort();
    return ended;
  };
  return { log, stop };
}

async function until(check: () => boolean): Promise<void> {
  using signal = withTimeout(undefined, 30_000, `wait for ${check}`);
  await waitFor(async () => check() || undefined, { intervalMs: 10, signal });
}

test('one process leads, and releases the Lease for the next', async () => {
  const client = new FakeKubeClient();
  const first = elect(client, 'first');
  await until(() => first.log.length === 1);
  const second = elect(client, 'second');
  await client.waitForCalls({ verb: 'update', plural: LEASES.plural });
  assert.deepEqual(second.log, []);
  await first.stop();
  assert.deepEqual(first.log, ['leads', 'ended']);
  await until(() => second.log.length === 1);
  const { spec } = client.stored<LeaderLease>(LEASES, PLACE)!;
  assert.deepEqual([spec?.holderIdentity, spec?.leaseTransitions], ['second', 1]);
  await second.stop();
});

test('work stops if another process acquires the Lease, and restarts at the next election', async () => {
  const client = new FakeKubeClient();
  const { log, stop } = elect(client, 'me');
  await until(() => log.length === 1);
  client.put(LEASES, held({ holderIdentity: 'thief', leaseDurationSeconds: 1 }));
  await until(() => log.length === 2);
  await until(() => log.length === 3);
  assert.deepEqual(log, ['leads', 'ended', 'leads']);
  await stop();
});

test('a leader that briefly cannot reach the server continues', async () => {
  const client = new FakeKubeClient();
  const { log, stop } = elect(client, 'me');
  await until(() => log.length === 1);
  client.script({ verb: 'get', plural: LEASES.plural }, refusal(500, 'InternalError'), refusal(500, 'InternalError'));
  const renewed = client.callsOf({ verb: 'update', plural: LEASES.plural }).length;
  await client.waitForCalls({ verb: 'update', plural: LEASES.plural }, renewed + 1);
  assert.deepEqual(log, ['leads']);
  await stop();
});

test('a leader ends its work before its Lease can expire, even if a renewal gets no response', async (t) => {
  let nowMs = 0;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(performance, 'now', () => nowMs);
  const client = new FakeKubeClient();
  const { log, stop } = elect(client, 'me');
  const pass = async (ms: number) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await pass(0);
  assert.deepEqual(log, ['leads']);
  const unavailable = Array.from({ length: 3 }, () => refusal(503, 'ServiceUnavailable'));
  client.script({ verb: 'get', plural: LEASES.plural }, ...unavailable, () => new Promise(() => undefined));
  while (log.length === 1 && nowMs < 30_000) await pass(100);
  assert.deepEqual([log.slice(0, 2), nowMs], [['leads', 'ended'], 10_000]);
  await stop();
});
