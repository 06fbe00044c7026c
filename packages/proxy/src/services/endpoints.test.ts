import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseEndpoints, endpointsOf } from './endpoints.ts';
import type { EndpointSlice, SliceEndpoint } from './objects.ts';

const wanted = { version: 4, portName: 'http', protocol: 'TCP' } as const;
const ready: SliceEndpoint['conditions'] = { ready: true };
const ending: SliceEndpoint['conditions'] = { ready: false, serving: true, terminating: true };
const ended: SliceEndpoint['conditions'] = { ready: false, serving: false, terminating: true };
const endpoint = (last: number, more: Partial<SliceEndpoint> = {}): SliceEndpoint => ({
  addresses: [`10.1.0.${last}`],
  nodeName: 'here',
  ...more,
});
const slice = (endpoints: SliceEndpoint[], more: Partial<EndpointSlice> = {}): EndpointSlice => ({
  metadata: { name: 's' },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 80 }],
  endpoints,
  ...more,
});

const read = (...slices: EndpointSlice[]) =>
  endpointsOf(slices, wanted, 'here').map(
    ({ address, port, isLocal }) => `${address}:${port}${isLocal ? ' here' : ''}`,
  );

test('endpoints match by port, protocol and IP family, without duplicates', () => {
  assert.deepEqual(read(slice([endpoint(1), endpoint(2, { nodeName: 'there' })]), slice([endpoint(1)])), [
    '10.1.0.1:80 here',
    '10.1.0.2:80',
  ]);
  assert.deepEqual(read(slice([endpoint(1)], { ports: [{ name: 'other', port: 80 }] })), []);
  assert.deepEqual(read(slice([endpoint(1)], { ports: [{ name: 'http', port: 80, protocol: 'UDP' }] })), []);
  assert.deepEqual(read(slice([endpoint(1)], { ports: [{ name: 'http' }] })), []);
  assert.deepEqual(read(slice([endpoint(1)], { addressType: 'IPv6' })), []);
  assert.deepEqual(read(slice([{ addresses: ['fd00::1'] }, { addresses: [] }, { addresses: ['name'] }])), []);
  assert.deepEqual(read(slice([], { endpoints: null, ports: null })), []);
});

test('an endpoint in two slices is taken from the one on this node', () => {
  const there = endpoint(1, { nodeName: 'there' });
  assert.deepEqual(read(slice([there]), slice([endpoint(1)])), ['10.1.0.1:80 here']);
  assert.deepEqual(read(slice([endpoint(1)]), slice([there])), ['10.1.0.1:80 here']);
});

test('among pods with the same address a ready one wins, then a serving one, in any order', () => {
  const states = [ended, ending, ready];
  const chosen = (...conditions: SliceEndpoint['conditions'][]) => {
    const endpoints = conditions.map((one) => endpoint(1, { conditions: one }));
    return endpointsOf([slice(endpoints)], wanted, 'here').map(({ isReady, isServing }) => `${isReady} ${isServing}`);
  };
  for (const order of [states, states.toReversed()]) assert.deepEqual(chosen(...order), ['true true']);
  assert.deepEqual(chosen(ended, ending), ['false true']);
  assert.deepEqual(chosen(ending, ended), ['false true']);
});

const both = { cluster: true, local: true };
const node = { name: 'here', zone: 'a' };
const choose = (endpoints: SliceEndpoint[], uses = both) => {
  const { cluster, local, hasAny } = chooseEndpoints(endpointsOf([slice(endpoints)], wanted, 'here'), uses, node);
  const last = (list: { address: string }[]) => list.map(({ address }) => address.slice(-1)).join('');
  return `${last(cluster)}|${last(local)}|${hasAny}`;
};

test('ready endpoints are used; without any, serving terminating ones are, separately for each policy', () => {
  const there = { nodeName: 'there' };
  const check = (endpoints: SliceEndpoint[], expected: string) => assert.equal(choose(endpoints), expected);
  check([endpoint(1), endpoint(2, there)], '12|1|true');
  check([endpoint(1, { conditions: {} }), endpoint(2, { conditions: ready })], '12|12|true');
  check([endpoint(1, { conditions: ending }), endpoint(2, there)], '2|1|true');
  check([endpoint(1, { conditions: ending }), endpoint(2, { conditions: ended })], '1|1|true');
  check([endpoint(1, { conditions: ended })], '||false');
  check([endpoint(1, there)], '1||true');
  check([], '||false');
  assert.equal(choose([endpoint(1)], { cluster: false, local: true }), '|1|true');
  assert.equal(choose([endpoint(1)], { cluster: true, local: false }), '1||true');
});

test('hints select endpoints for the node, then for the zone, if every ready endpoint has hints and one matches', () => {
  const forNodes = (last: number, name: string) => endpoint(last, { hints: { forNodes: [{ name }] } });
  const forZones = (last: number, name: string) => endpoint(last, { hints: { forZones: [{ name }] } });
  assert.equal(choose([forNodes(1, 'here'), forNodes(2, 'there')]), '1|12|true');
  assert.equal(choose([forNodes(1, 'there'), forNodes(2, 'there')]), '12|12|true');
  assert.equal(choose([forNodes(1, 'here'), endpoint(2)]), '12|12|true');
  assert.equal(choose([forZones(1, 'a'), forZones(2, 'b')]), '1|12|true');
  assert.equal(choose([forZones(1, 'b'), forZones(2, 'c')]), '12|12|true');
});
