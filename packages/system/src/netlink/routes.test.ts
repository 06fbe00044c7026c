import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Attribute, encodeAttributes, u32 } from './message.ts';
import { decodeDefaultRoute, decodeRoute } from './routes.ts';

/** A route to 10.0.0.0/8 in the kernel's format (linux/rtnetlink.h). */
const routeBy = (...attributes: Attribute[]) => {
  const header = Buffer.from([2, 8, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0]);
  const body = Buffer.concat([header, encodeAttributes([[1, Buffer.from([10, 0, 0, 0])], ...attributes])]);
  return decodeRoute({ type: 24, flags: 0, sequence: 1, body });
};

const link: Attribute = [4, u32(3)];
const gateway: Attribute = [5, Buffer.from([192, 0, 2, 2])];
const gatewayOfIpv6: Attribute = [18, Buffer.from('000a20010db8000000000000000000000002', 'hex')];

/** struct rtnexthop: u16 length, u8 flags, u8 hops, i32 link index. */
const nextHops = (...all: Attribute[][]): Attribute => {
  const encoded = all.map((attributes) => {
    const inner = encodeAttributes(attributes);
    return Buffer.concat([Buffer.from([8 + inner.length, 0, 0, 0, 3, 0, 0, 0]), inner]);
  });
  return [9, Buffer.concat(encoded)];
};

test('a route uses a gateway, of any family, if all of its next hops do', () => {
  const route = { destination: '10.0.0.0', prefixLength: 8, linkIndex: 3 };
  assert.deepEqual(routeBy(link), { ...route, viaGateway: false });
  assert.deepEqual(routeBy(link, gateway), { ...route, viaGateway: true });
  assert.deepEqual(routeBy(link, gatewayOfIpv6), { ...route, viaGateway: true });
  const multipath = { ...route, linkIndex: undefined };
  assert.deepEqual(routeBy(nextHops([gateway], [gatewayOfIpv6])), { ...multipath, viaGateway: true });
  assert.deepEqual(routeBy(nextHops([gateway], [])), { ...multipath, viaGateway: false });
});

test('a default route is decoded with its metric and links', () => {
  const defaultBy = (prefixLength: number, ...attributes: Attribute[]) => {
    const header = Buffer.from([2, prefixLength, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0]);
    const body = Buffer.concat([header, encodeAttributes(attributes)]);
    return decodeDefaultRoute({ type: 24, flags: 0, sequence: 1, body });
  };
  const metric: Attribute = [6, u32(100)];
  assert.deepEqual(defaultBy(0, gateway, link, metric), { family: 4, metric: 100, linkIndexes: [3] });
  assert.deepEqual(defaultBy(0, nextHops([gateway], [gateway])), { family: 4, metric: 0, linkIndexes: [3, 3] });
  assert.equal(defaultBy(8, [1, Buffer.from([10, 0, 0, 0])], link), undefined);
});
