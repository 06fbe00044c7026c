import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AddressStore } from './address-store.ts';
import type { HostLinks } from './host-links.ts';
import type { HostRules } from './host-rules.ts';
import { HostSide } from './host-side.ts';
import { parseSubnets } from './subnet.ts';

/** A `HostSide` without subnets, on a host where its bridge exists. Records calls that check or change the rules. */
function begin({ missing = async () => undefined }: { missing?: () => Promise<undefined> } = {}) {
  const calls: string[] = [];
  const link = { index: 7, name: 'no-such-bridge', kind: 'bridge', up: true };
  const links = {
    find: async () => [link],
    addresses: async () => [],
    routes: async () => [],
    links: async () => [],
    defaultRoutes: async () => [],
  };
  const rules = {
    missing: () => {
      calls.push('missing');
      return missing();
    },
    ensure: async () => void calls.push('ensure'),
    recheck: async () => void calls.push('recheck'),
    setSubnets: () => undefined,
  };
  const host = new HostSide({
    ...{ bridge: 'no-such-bridge', subnets: [], mtu: 0, stateDir: '/nonexistent', store: {} as AddressStore },
    links: links as unknown as HostLinks,
    rules: rules as unknown as HostRules,
  });
  return { host, calls };
}

test('a subnet change during a check triggers another check', async () => {
  const checks = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  let next = 0;
  const { host, calls } = begin({ missing: () => checks[next++]!.promise });
  const first = host.problem();
  while (next === 0) await new Promise(setImmediate);
  host.setSubnets(parseSubnets('10.83.0.0/16'));
  for (const check of checks) check.resolve(undefined);
  await first;
  for (let turn = 0; turn < 2; turn++) assert.equal(await host.problem(), undefined);
  assert.deepEqual(calls, ['missing', 'missing']);
});

test('the first check after a restart with pods ensures the rules once, and later checks verify them', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const { host, calls } = begin();
  host.markInUse();
  assert.equal(await host.problem(), undefined);
  assert.deepEqual(calls.splice(0), ['missing', 'ensure']);
  nowMs = 3_600_000;
  assert.equal(await host.problem(), undefined);
  assert.deepEqual(calls, ['missing', 'recheck']);
});
