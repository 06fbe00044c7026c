import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressText } from '@podwright/system';
import type { RuleElement } from '../ledger/table-rules.ts';
import { chooseEndpoints, endpointsOf } from '../services/endpoints.ts';
import { nodeFacts } from '../services/node-facts.ts';
import type { ServiceObject, SliceEndpoint } from '../services/objects.ts';
import { policiesOf, servicePortsOf } from '../services/service-port.ts';
import { rulesOf } from './service-rules.ts';

const node = { ...nodeFacts('here', undefined), nodePortAddresses: ['10.0.0.1'], addresses: ['10.0.0.1'] };
const pods = { ...node, podCidrs: ['10.1.0.0/16'] };
const local: SliceEndpoint = { addresses: ['10.1.0.1'], nodeName: 'here' };
const remote: SliceEndpoint = { addresses: ['10.1.0.2'], nodeName: 'there' };
const nodePort = { type: 'NodePort' as const, ports: [{ port: 80, nodePort: 30080 }] };

/** Formats an element whose key starts with an IPv4 address as `SET KEY : DATA`. */
function shown({ set, key, data }: RuleElement): string {
  const words = Array.from({ length: key.length / 4 }, (_, index) => key.subarray(4 * index, 4 * index + 4));
  const number = (word: Buffer) => (word[1] === 0 ? word[0] : word.readUInt16BE());
  const texts = words.map((word) => (word[0] === 10 || word[0] === 192 ? addressText(word) : number(word)));
  const port = (value: Buffer) => `${addressText(value.subarray(0, 4))} ${value.readUInt16BE(4)}`;
  const value = Buffer.isBuffer(data) ? port(data) : typeof data === 'object' ? Object.values(data)[0] : data;
  return `${set} ${texts.join(' ')}${value === undefined ? '' : ` : ${value.replace(/-[0-9a-f]{24}$/, '')}`}`;
}

function build(
  spec: ServiceObject['spec'],
  endpoints: SliceEndpoint[],
  facts = node,
  status?: ServiceObject['status'],
) {
  const metadata = { namespace: 'default', name: 'web' };
  const object = { metadata, spec: { clusterIP: '10.96.0.1', ports: [{ port: 80 }], ...spec }, status };
  const [port] = servicePortsOf(object);
  const slice = { metadata, addressType: 'IPv4' as const, ports: [{ port: 8080 }], endpoints };
  const chosen = chooseEndpoints(endpointsOf([slice], port!, 'here'), policiesOf(port!), node);
  return rulesOf(port!, chosen, { node: facts, masqueradeAll: false });
}

const elements = (...input: Parameters<typeof build>) => build(...input).elements.map(shown);
const verdicts = (...input: Parameters<typeof build>) =>
  elements(...input)
    .filter((text) => text.startsWith('services4'))
    .map((text) => text.replace('services4 ', ''));

test('a cluster IP maps numbers to endpoints, and local pods connecting to themselves are masqueraded', () => {
  assert.deepEqual(elements({}, [local, remote]), [
    'cluster_ips4 10.96.0.1',
    'services4 10.96.0.1 6 80 : pick_cluster4-2',
    'cluster4 10.96.0.1 6 80 0 : 10.1.0.1 8080',
    'cluster4 10.96.0.1 6 80 1 : 10.1.0.2 8080',
    'hairpin4 10.1.0.1 10.1.0.1 6 8080',
  ]);
  const chains = build({}, [local, remote]).chains.map(({ name, rules }) => `${name} ${rules.length}`);
  assert.deepEqual(chains, ['pick_cluster4-2 1']);
});

test('other ports of a cluster IP are not rejected if a host process listens on that address', () => {
  assert.deepEqual(elements({}, [{ addresses: ['10.96.0.1'] }]), [
    'services4 10.96.0.1 6 80 : pick_cluster4-1',
    'cluster4 10.96.0.1 6 80 0 : 10.96.0.1 8080',
  ]);
});

test('external connections to a cluster IP are masqueraded if the pod addresses are known', () => {
  const masquerade = (facts: typeof node) => elements({}, [remote], facts).filter((text) => text.startsWith('masq'));
  assert.deepEqual(masquerade(node), []);
  assert.deepEqual(masquerade(pods), ['masquerade4 10.96.0.1 6 80 : masquerade_strangers4']);
});

test('a service without endpoints rejects; with policy Local and no local endpoint it drops', () => {
  assert.deepEqual(verdicts(nodePort, []), ['10.96.0.1 6 80 : refuse', '10.0.0.1 6 30080 : refuse']);
  assert.deepEqual(verdicts({ internalTrafficPolicy: 'Local' }, [remote]), ['10.96.0.1 6 80 : drop']);
  assert.deepEqual(verdicts({ internalTrafficPolicy: 'Local' }, []), ['10.96.0.1 6 80 : refuse']);
  assert.deepEqual(verdicts({ internalTrafficPolicy: 'Local' }, [local, remote]), ['10.96.0.1 6 80 : pick_local4-1']);
});

test('an external address with policy Local distinguishes connections by source and preserves the source', () => {
  const spec = { ...nodePort, externalTrafficPolicy: 'Local' as const };
  assert.deepEqual(elements(spec, [local, remote]).slice(4, 9), [
    'services4 10.0.0.1 6 30080 : outer',
    'cluster4 10.0.0.1 6 30080 0 : 10.1.0.1 8080',
    'cluster4 10.0.0.1 6 30080 1 : 10.1.0.2 8080',
    'local4 10.0.0.1 6 30080 0 : 10.1.0.1 8080',
    'masquerade4 10.0.0.1 6 30080 : masquerade_host',
  ]);
  assert.deepEqual(verdicts(spec, []).slice(1), ['10.0.0.1 6 30080 : refuse']);
  const rules = (facts: typeof node) =>
    build(spec, [remote], facts).chains.find(({ name }) => /^outer/.test(name))!.rules;
  assert.equal(rules(node).length, 2);
  assert.equal(rules(pods).length, 3);
});

test('source ranges apply only to load balancer addresses, and include those if they include the node', () => {
  const ingress = { loadBalancer: { ingress: [{ ip: '192.0.2.8' }] } };
  const guards = (range: string) => build({ ...nodePort, loadBalancerSourceRanges: [range] }, [local], node, ingress);
  const names = guards('203.0.113.0/24')
    .elements.map(shown)
    .filter((text) => /: guard/.test(text));
  assert.deepEqual(names, ['services4 192.0.2.8 6 80 : guard']);
  const rules = (range: string) => guards(range).chains.find(({ name }) => /^guard/.test(name))!.rules.length;
  assert.equal(rules('203.0.113.0/24'), 2);
  assert.equal(rules('10.0.0.0/24'), 3);
  assert.equal(
    guards('0.0.0.0/0').chains.some(({ name }) => /^guard/.test(name)),
    false,
  );
});

test('session affinity has one chain and one client set per endpoint, shared by policies', () => {
  const spec = { ...nodePort, sessionAffinity: 'ClientIP' as const, externalTrafficPolicy: 'Local' as const };
  const { chains, sets, elements } = build(spec, [local, remote]);
  const kinds = (names: string[]) => [...new Set(names)].map((name) => name.replace(/-.*/, '')).sort();
  assert.deepEqual(kinds(chains.map(({ name }) => name)), ['endpoint', 'endpoint', 'outer', 'sticky', 'sticky']);
  assert.deepEqual(kinds(sets.map(({ name }) => name)), ['clients', 'clients']);
  assert.ok(elements.map(shown).includes('sticky_local4 10.0.0.1 6 30080 0 : endpoint'));
});
