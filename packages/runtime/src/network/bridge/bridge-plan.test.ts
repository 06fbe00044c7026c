import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Link, LinkAddress, Route } from '@podwright/system';
import { rangeOf } from './address-range.ts';
import { type BridgePlan, planBridge } from './bridge-plan.ts';
import { parseSubnets } from './subnet.ts';

const bridge: Link = {
  index: 7,
  name: 'pw0',
  kind: 'bridge',
  up: true,
  alias: undefined,
  master: undefined,
  peer: undefined,
  forwards: false,
  learns: false,
  mtu: 1500,
};
const at = (cidr: string, linkIndex = 7): LinkAddress => {
  const [address = '', length] = cidr.split('/');
  return { linkIndex, address, prefixLength: Number(length) };
};
const to = (cidr: string, viaGateway = false, linkIndex = 2): Route => {
  const [destination = '', length] = cidr.split('/');
  return { destination, prefixLength: Number(length), linkIndex, viaGateway };
};

/** Returns the bridge plan for a host. If `link` is unset, the host has no bridge yet. */
function plan(
  host: { link?: Link; addresses?: LinkAddress[]; routes?: Route[] },
  { subnets = '10.83.0.0/16', isOwn = true } = {},
): BridgePlan {
  const state = { link: host.link, addresses: host.addresses ?? [], routes: host.routes ?? [] };
  return planBridge({ bridge: 'pw0', isOwn, ranges: parseSubnets(subnets).map(rangeOf), state });
}

const refusal = (planned: BridgePlan): string => (planned.kind === 'refuse' ? planned.message : planned.kind);

test('the bridge is created on a host without it', () => {
  assert.deepEqual(plan({ addresses: [at('10.83.0.1/16', 3)] }), { kind: 'create' });
});

test('missing settings are added to a bridge, and an outdated subnet is removed from one of our own', () => {
  const made = plan({ link: { ...bridge, up: false } });
  assert.deepEqual(made, { kind: 'repair', index: 7, up: false, add: [at('10.83.0.1/16')], remove: [] });
  const moved = plan({ link: bridge, addresses: [at('10.82.0.1/16'), at('192.0.2.1/24', 2)] });
  assert.deepEqual(moved, {
    kind: 'repair',
    index: 7,
    up: true,
    add: [at('10.83.0.1/16')],
    remove: [at('10.82.0.1/16')],
  });
  const right = plan({ link: bridge, addresses: [at('10.83.0.1/16')], routes: [to('10.83.0.0/16', false, 7)] });
  assert.deepEqual(right, { kind: 'repair', index: 7, up: true, add: [], remove: [] });
});

test('other IPv6 subnets remain alongside the configured one', () => {
  const subnets = '10.83.0.0/16,fd00:83::/64';
  const addresses = [at('10.83.0.1/16'), at('fd00:1::1/64'), at('fd00:83::5/48')];
  const planned = plan({ link: bridge, addresses }, { subnets });
  assert.deepEqual(planned, { kind: 'repair', index: 7, up: true, add: [at('fd00:83::1/64')], remove: [addresses[2]] });
});

test('a bridge created by another program is used, unless it has a different subnet', () => {
  assert.equal(plan({ link: bridge }, { isOwn: false }).kind, 'repair');
  const taken = plan({ link: bridge, addresses: [at('192.168.1.5/24')] }, { isOwn: false });
  assert.match(
    refusal(taken),
    /^bridge pw0 was not created by this node and has 192\.168\.1\.5\/24: choose another network\.bridge/,
  );
});

test('a link that is not a bridge is refused', () => {
  assert.match(refusal(plan({ link: { ...bridge, kind: 'dummy' } })), /^link pw0 exists and is not a bridge \(dummy\)/);
  assert.match(refusal(plan({ link: { ...bridge, kind: undefined } })), /not a bridge \(a device\)/);
});

test('a subnet conflicts with host networks and with routes through gateways in it, and the error suggests a free subnet', () => {
  const table: [Route, RegExp][] = [
    [
      to('10.83.0.0/16'),
      /^pod subnet 10\.83\.0\.0\/16 collides with the host's route to 10\.83\.0\.0\/16: .* such as 10\.84\.0\.0\/16$/,
    ],
    [to('10.83.9.0/24', true), /route to 10\.83\.9\.0\/24: .* such as 10\.84\.0\.0\/16$/],
    [to('10.80.0.0/12'), /route to 10\.80\.0\.0\/12: .* such as 10\.96\.0\.0\/16$/],
    [to('10.0.0.0/8'), /such as 172\.16\.0\.0\/16$/],
    [to('10.0.0.0/8', true), /^create$/],
    [to('10.84.0.0/16'), /^create$/],
    [to('fd00::/8'), /^create$/],
  ];
  for (const [route, expected] of table)
    assert.match(refusal(plan({ routes: [route] })), expected, JSON.stringify(route));
  assert.match(refusal(plan({ routes: [to('fd00:83::/64')] }, { subnets: 'fd00:83::/64' })), /such as fd00:84::\/64$/);
});

test('on a host with a huge number of routes a conflict is detected quickly, without a suggestion', () => {
  const hosts = Array.from(
    { length: 172 * 400 },
    (_, n) => `10.${84 + Math.floor(n / 400)}.${255 - ((n % 400) >> 8)}.${n & 255}`,
  );
  const routes = hosts.map((address) => to(`${address}/32`, true));
  const before = performance.now();
  const refused = refusal(plan({ routes: [...routes, to('10.83.4.0/24')] }));
  assert.match(refused, /route to 10\.83\.4\.0\/24: set network\.subnet to a free one$/);
  assert.ok(performance.now() - before < 2000);
});
