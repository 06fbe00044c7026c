import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endpointSlices } from './endpoint-slices.ts';
import { endpoints } from './endpoints.ts';
import { KindRules } from './kind-rules.fixture.ts';

describe('endpoints', async () => {
  const rules = await KindRules.of('core.v1.Endpoints', endpoints);
  const subset = (address: object, port: object = { port: 80 }) => ({
    subsets: [{ addresses: [address], ports: [port] }],
  });

  it('have addresses and ports', () => {
    rules.checkCreate(subset({ ip: '10.0.0.1', nodeName: 'n', hostname: 'h' }), []);
    rules.checkCreate(
      { subsets: [{ notReadyAddresses: [{ ip: '::1' }], ports: [{ port: 0 }, { name: 'A', port: 1 }] }, {}] },
      [
        'subsets[0].notReadyAddresses[0].ip: Invalid value: "::1": may not be in the loopback range',
        'subsets[0].ports[0].name: Required value',
        'subsets[0].ports[0].port: Invalid value: 0',
        'subsets[0].ports[1].name: Invalid value: "A"',
        'subsets[1]: Required value: must specify `addresses` or `notReadyAddresses`',
      ],
    );
    rules.checkCreate(
      subset({ ip: 'x', hostname: 'A', nodeName: 'a b' }, { port: 80, protocol: 'X', appProtocol: '' }),
      [
        'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g.',
        'subsets[0].addresses[0].hostname: Invalid value: "A"',
        'subsets[0].addresses[0].nodeName: Invalid value: "a b"',
        'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
        'subsets[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
        'subsets[0].ports[0].appProtocol: Invalid value: "": name part must be non-empty',
        'subsets[0].ports[0].appProtocol: Invalid value: "": name part must consist of',
      ],
    );
    const created = rules.created(subset({ ip: '10.0.0.1' })) as unknown as { subsets: { ports: object[] }[] };
    assert.deepEqual(created.subsets[0]!.ports, [{ port: 80, protocol: 'TCP' }]);
  });

  it('may retain invalid subsets, and have warnings unless their controller wrote them', () => {
    const old = subset({ ip: '010.0.0.1' });
    rules.checkUpdate({ ...old, metadata: { labels: { a: 'b' } } }, old, []);
    rules.checkUpdate(old, {}, ['subsets[0].addresses[0].ip: Invalid value: "010.0.0.1": must not have leading 0s']);
    rules.checkWarnings(old, ['subsets[0].addresses[0].ip: non-standard IP address "010.0.0.1" is invalid']);
    const labels = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };
    rules.checkWarnings({ ...old, metadata: { labels } }, []);
  });
});

describe('an EndpointSlice', async () => {
  const rules = await KindRules.of('discovery.v1.EndpointSlice', endpointSlices);
  const slice = (endpoint: object, addressType = 'IPv4', ports: object[] = []) => ({
    addressType,
    endpoints: [endpoint],
    ports,
  });
  const many = (count: number) => Array.from({ length: count }, (_, index) => index);

  it('gets names and protocols of ports, and loses its topology', () => {
    const endpoint = { addresses: ['10.0.0.1'], deprecatedTopology: { 'kubernetes.io/hostname': 'n' } };
    const created = rules.created(slice(endpoint, 'IPv4', [{ port: 80 }]));
    assert.deepEqual(
      [created.ports, created.endpoints],
      [[{ port: 80, name: '', protocol: 'TCP' }], [{ addresses: ['10.0.0.1'], conditions: {} }]],
    );
    const updated = rules.updated(slice({ ...endpoint, addresses: ['10.0.0.2'] }), slice(endpoint));
    assert.deepEqual(updated.endpoints, [{ addresses: ['10.0.0.2'], conditions: {}, nodeName: 'n' }]);
    assert.notEqual(
      (rules.updated(slice(endpoint), slice(endpoint)).endpoints as { deprecatedTopology?: object }[])[0]!
        .deprecatedTopology,
      undefined,
    );
  });

  it('has a known type, and addresses of that type', () => {
    rules.checkCreate(slice({ addresses: ['10.0.0.1'] }), []);
    rules.checkCreate(slice({ addresses: ['2001:db8::1'] }, 'IPv6'), []);
    rules.checkCreate(slice({ addresses: ['a.example.com.'] }, 'FQDN'), []);
    rules.checkCreate(slice({ addresses: ['x'] }, ''), ['addressType: Required value']);
    rules.checkCreate(slice({ addresses: ['x'] }, 'X'), [
      'addressType: Unsupported value: "X": supported values: "FQDN", "IPv4", "IPv6"',
    ]);
    rules.checkCreate(slice({ addresses: ['2001:db8::1', '127.0.0.1', '010.0.0.1'] }), [
      'endpoints[0].addresses: Invalid value: "2001:db8::1": must be an IPv4 address',
      'endpoints[0].addresses[1]: Invalid value: "127.0.0.1": may not be in the loopback range',
      'endpoints[0].addresses[2]: Invalid value: "010.0.0.1": must not have leading 0s',
    ]);
    rules.checkCreate(slice({ addresses: ['2001:DB8::1', '10.0.0.1'] }, 'IPv6'), [
      'endpoints[0].addresses[0]: Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")',
      'endpoints[0].addresses: Invalid value: "10.0.0.1": must be an IPv6 address',
    ]);
    rules.checkCreate(slice({ addresses: ['', 'a'] }, 'FQDN'), [
      'endpoints[0].addresses[0]: Required value',
      'endpoints[0].addresses[1]: Invalid value: "a": should be a domain with at least two segments separated by dots',
    ]);
  });

  it('has bounded lists', () => {
    rules.checkCreate(slice({}), ['endpoints[0].addresses: Required value: must contain at least 1 address']);
    rules.checkCreate(slice({ addresses: many(101).map((index) => `10.0.1.${index}`) }), [
      'endpoints[0].addresses: Too many: 101: must have at most 100 items',
    ]);
    rules.checkCreate({ addressType: 'IPv4', endpoints: many(1001).map(() => ({})) }, [
      'endpoints: Too many: 1001: must have at most 1000 items',
    ]);
    rules.checkCreate({ addressType: 'IPv4', ports: many(20_001).map(() => ({})) }, [
      'ports: Too many: 20001: must have at most 20000 items',
    ]);
    const hints = (zones: number, nodes: number) => ({
      forZones: many(zones).map((index) => ({ name: `z${index}` })),
      forNodes: many(nodes).map((index) => ({ name: `n${index}` })),
    });
    rules.checkCreate(slice({ addresses: ['10.0.0.1'], hints: hints(9, 9) }), [
      'endpoints[0].hints.forZones: Too many: 9: must have at most 8 items',
    ]);
    rules.checkCreate(slice({ addresses: ['10.0.0.1'], hints: hints(8, 9) }), [
      'endpoints[0].hints.forNodes: Too many: 9: must have at most 8 items',
    ]);
  });

  it('has valid and unique names', () => {
    const ports = [{ name: 'A' }, { name: 'a' }, { name: 'a', protocol: 'X', appProtocol: 'b c' }];
    rules.checkCreate(slice({ addresses: ['10.0.0.1'], nodeName: 'a b', hostname: 'C' }, 'IPv4', ports), [
      'ports[0].name: Invalid value: "A"',
      'ports[2].name: Duplicate value: "a"',
      'ports[2].protocol: Unsupported value: "X"',
      'ports[2].appProtocol: Invalid value: "b c"',
      'endpoints[0].nodeName: Invalid value: "a b"',
      'endpoints[0].hostname: Invalid value: "C"',
    ]);
    const hints = { forZones: [{ name: 'z' }, { name: 'z' }, { name: '-' }], forNodes: [{ name: '' }] };
    rules.checkCreate(slice({ addresses: ['10.0.0.1'], hints }), [
      'endpoints[0].hints.forZones[1].name: Duplicate value: "z"',
      'endpoints[0].hints.forZones[2].name: Invalid value: "-"',
      'endpoints[0].hints.forNodes[0].name: Invalid value: ""',
    ]);
  });

  it('does not change its type, but may retain invalid endpoints', () => {
    const old = slice({ addresses: ['127.0.0.1'] });
    rules.checkUpdate(old, old, []);
    rules.checkUpdate({ ...old, addressType: 'FQDN' }, old, ['addressType: Invalid value: "FQDN": field is immutable']);
    rules.checkUpdate(slice({ addresses: ['127.0.0.2'] }), old, [
      'endpoints[0].addresses[0]: Invalid value: "127.0.0.2"',
    ]);
  });

  it('has warnings', () => {
    rules.checkWarnings(slice({ addresses: ['a.b'] }, 'FQDN'), ['spec.addressType: FQDN endpoints are deprecated']);
    rules.checkWarnings(slice({ addresses: ['::0'] }, 'IPv6'), [
      'endpoints[0].addresses[0]: IPv6 address "::0" should be',
    ]);
  });
});
