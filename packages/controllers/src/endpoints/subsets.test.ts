import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSubset } from '../objects/endpoints.ts';
import { decideEndpoints } from './decide-endpoints.ts';
import { addressedPod, testService } from './endpoints.fixture.ts';
import { repacked, truncated } from './subsets.ts';

const address = (ip: string, uid = ip) => ({ ip, targetRef: { uid } });
const port = (number: number) => ({ port: number, protocol: 'TCP' });

function check(title: string, given: EndpointSubset[], expected: EndpointSubset[]) {
  test(title, () => assert.deepEqual(repacked(given), expected));
}

const one = address('10.0.0.1');
const two = address('10.0.0.2');

check(
  'addresses with the same ports share a subset, sorted',
  [
    { addresses: [two], ports: [port(2)] },
    { addresses: [one], ports: [port(2)] },
  ],
  [{ addresses: [one, two], ports: [port(2)] }],
);
check(
  'ports of the same addresses share a subset',
  [
    { addresses: [one], ports: [port(2)] },
    { addresses: [one], ports: [port(1)] },
  ],
  [{ addresses: [one], ports: [port(1), port(2)] }],
);
check(
  'other addresses have other subsets',
  [
    { addresses: [one], ports: [port(1)] },
    { addresses: [two], ports: [port(2)] },
  ],
  [
    { addresses: [one], ports: [port(1)] },
    { addresses: [two], ports: [port(2)] },
  ],
);
check(
  'an address that is also not ready is not ready',
  [
    { addresses: [one], ports: [port(1)] },
    { notReadyAddresses: [one], ports: [port(1)] },
  ],
  [{ notReadyAddresses: [one], ports: [port(1)] }],
);
check('addresses without ports are kept', [{ addresses: [one] }], [{ addresses: [one] }]);
check(
  'an address of two pods counts twice',
  [{ addresses: [address('10.0.0.1', 'b'), address('10.0.0.1', 'a')], ports: [port(1)] }],
  [{ addresses: [address('10.0.0.1', 'a'), address('10.0.0.1', 'b')], ports: [port(1)] }],
);

const many = (count: number) => Array.from({ length: count }, (_, index) => address(`a${index}`));
const sizes = (subsets: EndpointSubset[]) => {
  const { subsets: cut, isTruncated } = truncated(subsets);
  return [isTruncated, ...cut.map((each) => `${each.addresses?.length ?? 0}+${each.notReadyAddresses?.length ?? 0}`)];
};

test('above 1,000 addresses, ready ones are kept in proportion', () => {
  assert.deepEqual(sizes([{ addresses: many(500), notReadyAddresses: many(500) }]), [false, '500+500']);
  assert.deepEqual(sizes([{ addresses: many(500), notReadyAddresses: many(900) }]), [true, '500+500']);
  assert.deepEqual(sizes([{ addresses: many(900), notReadyAddresses: many(5) }, { addresses: many(300) }]), [
    true,
    '750+0',
    '250+0',
  ]);
});

test('many ports and pods are processed without time proportional to their product', () => {
  const ports = Array.from({ length: 10_000 }, (_, index) => ({ name: `p${index}`, port: index + 1 }));
  const pods = Array.from({ length: 100 }, (_, index) => addressedPod({ name: `p${index}`, ips: [`10.1.0.${index}`] }));
  const start = performance.now();
  const endpoints = decideEndpoints({
    service: testService({ ports }),
    pods,
    existing: undefined,
    triggerMs: undefined,
  });
  assert.ok(performance.now() - start < 2000);
  assert.deepEqual(
    endpoints!.subsets!.map((one) => [one.addresses!.length, one.ports!.length]),
    [[100, 10_000]],
  );
});
