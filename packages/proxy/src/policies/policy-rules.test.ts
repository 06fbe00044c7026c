import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressText } from '@podwright/system';
import type { NetworkPolicy, PolicyPeer, PolicyPort } from './objects.ts';
import type { PodFacts } from './pod-facts.ts';
import { policyRules } from './policy-rules.ts';

const pod = (name: string, last: number, more: Partial<PodFacts> = {}): PodFacts => ({
  ...{ namespace: 'default', name, labels: { app: name }, ips: [`10.1.0.${last}`, `fd00::${last}`], isLocal: true },
  ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
  ...more,
});
const a = pod('a', 1);
const b = pod('b', 2, { isLocal: false });
const c = pod('c', 3, { namespace: 'other', ips: ['10.1.0.3'], isLocal: false });
const namespaces = new Map([
  ['default', { team: 'x' }],
  ['other', { team: 'y' }],
]);
const policy = (spec: NetworkPolicy['spec']): NetworkPolicy => ({
  metadata: { namespace: 'default', name: 'p' },
  spec,
});
const rulesOf = (...specs: NetworkPolicy['spec'][]) => policyRules(specs.map(policy), { pods: [a, b, c], namespaces });

/** Returns the elements for isolated pods as `SET ADDRESS`. */
const isolated = (...specs: NetworkPolicy['spec'][]) =>
  rulesOf(...specs)
    .elements.filter(({ set }) => /^(in|e)gress/.test(set))
    .map(({ set, key }) => `${set} ${addressText(key)}`);
/** Returns the addresses in the sets of selected pods or of their ports. */
const selected = (spec: NetworkPolicy['spec'], kind = 'pods') =>
  rulesOf(spec)
    .elements.filter(({ set, key }) => set.startsWith(kind) && key.length < 16)
    .map(({ key }) => addressText(key.subarray(0, 4)));
const from = (...peers: PolicyPeer[]) => ({ podSelector: {}, ingress: [{ from: peers }] });
/** Returns the number of rules that permit something over IPv4. */
const permissions = (ports: PolicyPort[], peers: PolicyPeer[] = []) =>
  rulesOf({ podSelector: {}, ingress: [{ from: peers, ports }] }).chains[0]!.rules.length - 1;

test('a policy isolates the selected local pods in its namespace, in the directions of its policy types', () => {
  const both = ['ingress4 10.1.0.1', 'ingress6 fd00::1', 'egress4 10.1.0.1', 'egress6 fd00::1'];
  assert.deepEqual(isolated({ podSelector: {} }), both.slice(0, 2));
  assert.deepEqual(isolated({}), both.slice(0, 2));
  assert.deepEqual(isolated({ podSelector: {}, egress: [{}] }), both);
  assert.deepEqual(isolated({ podSelector: {}, policyTypes: ['Egress'] }), both.slice(2));
  assert.deepEqual(isolated({ podSelector: { matchLabels: { app: 'b' } } }), []);
  assert.deepEqual(isolated({ podSelector: { matchLabels: { app: 'c' } } }), []);
  assert.deepEqual(isolated(), []);
});

test('peers select pods in the policy’s namespace, in selected namespaces, or both', () => {
  assert.deepEqual(selected(from({ podSelector: {} })), ['10.1.0.1', '10.1.0.2']);
  assert.deepEqual(selected(from({ podSelector: { matchLabels: { app: 'c' } } })), []);
  assert.deepEqual(selected(from({ namespaceSelector: {} })), ['10.1.0.1', '10.1.0.2', '10.1.0.3']);
  assert.deepEqual(selected(from({ namespaceSelector: { matchLabels: { team: 'y' } } })), ['10.1.0.3']);
  const app = { matchLabels: { app: 'b' } };
  assert.deepEqual(selected(from({ namespaceSelector: { matchLabels: { team: 'x' } }, podSelector: app })), [
    '10.1.0.2',
  ]);
});

test('rules allow every combination of peers and ports exactly once', () => {
  assert.equal(permissions([]), 1);
  assert.equal(permissions([{ port: 80 }, { port: 90, endPort: 99 }, { protocol: 'UDP' }]), 3);
  assert.equal(permissions([{ port: 80 }, { port: 80, protocol: 'TCP' }]), 1);
  const peers = [{ podSelector: {} }, { ipBlock: { cidr: '10.0.0.0/8' } }, { ipBlock: { cidr: 'fd00::/8' } }];
  assert.equal(permissions([{ port: 80 }, { port: 81 }], peers), 4);
});

test('a named port is resolved in the destination pod', () => {
  assert.equal(permissions([{ port: 'http' }]), 1);
  assert.equal(permissions([{ port: 'http', protocol: 'UDP' }]), 0);
  assert.equal(permissions([{ port: 'absent' }]), 0);
  const to = (peers: PolicyPeer[] | undefined) => ({
    ...{ podSelector: {}, policyTypes: ['Egress' as const] },
    egress: [{ to: peers, ports: [{ port: 'http' }] }],
  });
  assert.deepEqual(selected(to(undefined), 'ports'), ['10.1.0.1', '10.1.0.2', '10.1.0.3']);
  assert.deepEqual(selected(to([{ podSelector: { matchLabels: { app: 'b' } } }]), 'ports'), ['10.1.0.2']);
  assert.deepEqual(selected(to([{ ipBlock: { cidr: '10.0.0.0/8' } }]), 'ports'), []);
});

test('pods with the same permissions share a chain, and policies with the same peers share a set', () => {
  const pods = [a, pod('d', 4), pod('e', 5)];
  const policies = [policy(from({ podSelector: {} })), policy(from({ podSelector: {} }))];
  const { chains, sets, elements } = policyRules(policies, { pods, namespaces });
  const count = (values: { name: string }[]) => new Set(values.map(({ name }) => name)).size;
  assert.deepEqual([count(chains), count(sets), sets.length], [2, 2, 2]);
  assert.equal(elements.filter(({ set }) => set === 'ingress4').length, 3);
});

const blocks = (count: number): PolicyPeer[] =>
  Array.from({ length: count }, (_, index) => ({ ipBlock: { cidr: `10.${index >> 8}.${index & 255}.0/24` } }));
const ports = (count: number): PolicyPort[] => Array.from({ length: count }, (_, index) => ({ port: index + 1 }));

test('a policy that requires too many rules isolates its pods completely, and does not affect other pods', () => {
  const large = { podSelector: { matchLabels: { app: 'a' } }, ingress: [{ from: blocks(1000), ports: ports(1000) }] };
  const small = { podSelector: { matchLabels: { app: 'd' } }, ingress: [{ ports: ports(2) }] };
  const pods = [a, pod('d', 4)];
  const start = performance.now();
  const { chains, refused, elements } = policyRules([policy(large), policy(small)], { pods, namespaces });
  assert.ok(performance.now() - start < 1000);
  assert.deepEqual(
    chains.map(({ rules }) => rules.length),
    [1, 1, 3, 3],
  );
  assert.deepEqual(refused, ['Ingress of 1 pod as default/a']);
  assert.equal(elements.filter(({ set }) => set === 'ingress4').length, 2);
});

test('if all policies together require too many rules, pods in the namespace with the most rules are isolated', () => {
  const pods = Array.from({ length: 8 }, (_, index) => pod(`p${index}`, index + 1));
  const policies = pods.map(({ labels }) =>
    policy({ podSelector: { matchLabels: labels }, ingress: [{ from: blocks(50), ports: ports(90) }] }),
  );
  const spec = { podSelector: {}, ingress: [{ from: blocks(40), ports: ports(90) }] };
  const other: NetworkPolicy = { metadata: { namespace: 'other', name: 'p' }, spec };
  const { refused } = policyRules([...policies, other], { pods: [...pods, { ...c, isLocal: true }], namespaces });
  assert.equal(refused.length, 5);
  assert.ok(refused.every((text) => text.includes('default/')));
});

test('a block with more exceptions than a rule can have expressions is not allowed', () => {
  const except = (count: number) => Array.from({ length: count }, (_, index) => `10.0.${index}.0/24`);
  const block = (count: number) => [{ ipBlock: { cidr: '10.0.0.0/8', except: except(count) } }];
  assert.equal(permissions([{ port: 80 }], block(38)), 1);
  assert.equal(permissions([{ port: 80 }], block(50)), 0);
});
