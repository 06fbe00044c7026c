import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@podwright/kube-api';
import type { NetworkPolicy } from '../../packages/proxy/src/policies/objects.ts';
import { ask, type HostPod, inNamespace } from '../network/host.fixture.ts';
import { eventually, node, POD_CIDRS, ProxyFixture, type StoredObject, service, slice } from './proxy.fixture.ts';

/** Returns the Pod object for `default/NAME`, with the label `app: NAME` and a port named `http` (80). */
const podObject = ({ name, ips }: HostPod, namespace = 'default'): KubeObject => ({
  metadata: { namespace, name, labels: { app: name } },
  ...{
    spec: { nodeName: 'here', containers: [{ name: 'c', ports: [{ name: 'http', containerPort: 80 }] }] },
    status: { phase: 'Running', podIPs: ips.map((ip) => ({ ip })) },
  },
});
const namespace = (name: string): StoredObject => ({
  resource: 'namespaces',
  object: { metadata: { name, labels: { 'kubernetes.io/metadata.name': name } } },
});
const policy = (name: string, spec: NetworkPolicy['spec']): NetworkPolicy => ({
  metadata: { namespace: 'default', name },
  spec,
});
const app = (name: string) => ({ matchLabels: { app: name } });

/**
 * Creates a simulated host with the pods a, b and c, of which c is in the namespace `other`. All serve TCP and UDP on port 80, and TCP on
 * port 81.
 */
async function create() {
  const fixture = new ProxyFixture();
  const [a, b, c] = [fixture.pod('a'), fixture.pod('b'), fixture.pod('c')];
  for (const pod of [a, b, c]) {
    await fixture.serve(pod, 'tcp', 80);
    await fixture.serve(pod, 'tcp', 81);
    await fixture.serve(pod, 'udp', 80);
  }
  const objects: StoredObject[] = [
    { resource: 'nodes', object: node },
    namespace('default'),
    namespace('other'),
    { resource: 'pods', object: podObject(a) },
    { resource: 'pods', object: podObject(b) },
    { resource: 'pods', object: podObject(c, 'other') },
    { resource: 'services', object: service('a', 1) },
    { resource: 'slices', object: slice('a', [a]) },
  ];
  fixture.onHost('sysctl -qw net.bridge.bridge-nf-call-iptables=0 net.bridge.bridge-nf-call-ip6tables=0');
  await fixture.start(objects, { bridge: fixture.bridge, bridgedCidrs: POD_CIDRS });
  return { fixture, a, b, c };
}

/** Whether a server responds to a pod within half a second. */
function reaches(from: { netns: string }, address: string, port: number, protocol: 'tcp' | 'udp' = 'tcp'): boolean {
  const target = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  const script =
    protocol === 'tcp'
      ? `socat -u -T0.5 TCP:${target},connect-timeout=0.5 - | grep -q .`
      : `echo x | socat -t0.5 -T0.5 - UDP:${target} | grep -q .`;
  try {
    inNamespace(from.netns, script);
    return true;
  } catch {
    return false;
  }
}

const expect = (expected: Record<string, boolean>, actual: () => Record<string, boolean>): Promise<unknown> => {
  let last = {};
  return eventually(() => {
    last = actual();
    assert.deepEqual(last, expected);
    return true;
  }).catch(() => assert.deepEqual(last, expected));
};

test('a default deny policy isolates pods from each other and from outside, but not from the node or themselves', async () => {
  const { fixture, a, b, c } = await create();
  using _fixture = fixture;
  inNamespace(fixture.outside.netns, 'ip route add 10.241.41.0/24 via 10.242.41.1');
  const host = { netns: fixture.host };
  const view = () => ({
    'b to a': reaches(b, a.ips[0]!, 80),
    'b to a over IPv6': reaches(b, a.ips[1]!, 80),
    'c to a by UDP': reaches(c, a.ips[0]!, 80, 'udp'),
    'b to a by service': reaches(b, '10.96.0.1', 80),
    'outside to a': reaches(fixture.outside, a.ips[0]!, 80),
    'node to a': reaches(host, a.ips[0]!, 80),
    'a to itself by service': reaches(a, '10.96.0.1', 80),
    'b to c': reaches(b, c.ips[0]!, 80),
  });
  const all = Object.fromEntries(Object.keys(view()).map((key) => [key, true]));
  await expect(all, view);
  await fixture.put('policies', policy('deny', { podSelector: {}, policyTypes: ['Ingress'] }));
  const denied = { 'b to a': false, 'b to a over IPv6': false, 'c to a by UDP': false, 'b to a by service': false };
  await expect({ ...all, ...denied, 'outside to a': false }, view);
  assert.match(fixture.table(), /10\.241\.41\.10 comment "default\/a" : jump ingress-/);
  await fixture.command({ do: 'remove', resource: 'policies', key: { namespace: 'default', name: 'deny' } });
  await expect(all, view);
});

test('while a pod is isolated, pods on the bridge reach each other at no address unknown to the policies', async () => {
  const { fixture, a, b, c } = await create();
  using _fixture = fixture;
  const linkLocal = (pod: HostPod): string => {
    const found = /inet6 (fe80:[^/]+)/.exec(inNamespace(pod.netns, 'ip -6 -o address show dev eth0 scope link'));
    return `${found![1]}%eth0`;
  };
  const broadcasts = (from: HostPod, to: HostPod): boolean => {
    const answers = `echo x | socat -t0.5 -T0.5 - UDP-DATAGRAM:10.241.41.255:80,broadcast`;
    return inNamespace(from.netns, `${answers} || true`).includes(`${to.name} `);
  };
  const view = () => ({
    'b to a': reaches(b, a.ips[0]!, 80),
    'b to a, link-local': reaches(b, linkLocal(a), 80),
    'b to a by UDP, link-local': reaches(b, linkLocal(a), 80, 'udp'),
    'b to a by broadcast': broadcasts(b, a),
    'b to c, link-local': reaches(b, linkLocal(c), 80),
    'b to c over IPv6': reaches(b, c.ips[1]!, 80),
  });
  const all = Object.fromEntries(Object.keys(view()).map((key) => [key, true]));
  const none = Object.fromEntries(Object.keys(all).map((key) => [key, false]));
  await expect(all, view);
  await fixture.put('policies', policy('deny', { podSelector: app('a'), policyTypes: ['Ingress', 'Egress'] }));
  await expect({ ...none, 'b to c over IPv6': true }, view);
  await fixture.command({ do: 'remove', resource: 'policies', key: { namespace: 'default', name: 'deny' } });
  await expect(all, view);
});

test('ingress rules allow traffic by pod, namespace and block, and by port number, name and range', async () => {
  const { fixture, a, b, c } = await create();
  using _fixture = fixture;
  const view = () => ({
    'b to 80': reaches(b, a.ips[0]!, 80),
    'b to 81': reaches(b, a.ips[0]!, 81),
    'b to 80 by UDP': reaches(b, a.ips[0]!, 80, 'udp'),
    'c to 80': reaches(c, a.ips[0]!, 80),
    'c to 81': reaches(c, a.ips[0]!, 81),
  });
  const none = Object.fromEntries(Object.keys(view()).map((key) => [key, false]));
  const put = (rule: NonNullable<NonNullable<NetworkPolicy['spec']>['ingress']>[number]) =>
    fixture.put('policies', policy('p', { podSelector: app('a'), policyTypes: ['Ingress'], ingress: [rule] }));
  await put({ from: [{ podSelector: app('b') }] });
  await expect({ ...none, 'b to 80': true, 'b to 81': true, 'b to 80 by UDP': true }, view);
  await put({ from: [{ podSelector: app('c') }] });
  await expect(none, view);
  await put({ from: [{ podSelector: app('c'), namespaceSelector: {} }], ports: [{ port: 'http' }] });
  await expect({ ...none, 'c to 80': true }, view);
  const other = { matchLabels: { 'kubernetes.io/metadata.name': 'other' } };
  await put({ from: [{ namespaceSelector: other }], ports: [{ port: 81, endPort: 90, protocol: 'TCP' }] });
  await expect({ ...none, 'c to 81': true }, view);
  await put({
    from: [{ ipBlock: { cidr: POD_CIDRS[0]!, except: [`${c.ips[0]}/32`] } }],
    ports: [{ protocol: 'UDP' }],
  });
  await expect({ ...none, 'b to 80 by UDP': true }, view);
  await put({ ports: [{ port: 80 }] });
  await expect({ ...none, 'b to 80': true, 'c to 80': true }, view);
});

test('egress rules allow traffic by destination, including through a service, and by port name', async () => {
  const { fixture, a, b, c } = await create();
  using _fixture = fixture;
  const view = () => ({
    'a at 80': reaches(b, a.ips[0]!, 80),
    'a at 81': reaches(b, a.ips[0]!, 81),
    'a by service': reaches(b, '10.96.0.1', 80),
    'c at 80': reaches(b, c.ips[0]!, 80),
    'c from a': reaches(a, c.ips[0]!, 80),
  });
  const none = { 'a at 80': false, 'a at 81': false, 'a by service': false, 'c at 80': false, 'c from a': true };
  const put = (rules: NonNullable<NetworkPolicy['spec']>['egress']) =>
    fixture.put('policies', policy('p', { podSelector: app('b'), policyTypes: ['Egress'], egress: rules }));
  await put([]);
  await expect(none, view);
  assert.match(ask(a.netns, 'tcp', b.ips[0]!, 80), /^b /); // replies pass
  await put([{ to: [{ podSelector: app('a') }], ports: [{ port: 'http' }] }]);
  await expect({ ...none, 'a at 80': true, 'a by service': true }, view);
  await put([{ to: [{ ipBlock: { cidr: POD_CIDRS[0]! } }] }]);
  await expect({ 'a at 80': true, 'a at 81': true, 'a by service': true, 'c at 80': true, 'c from a': true }, view);
});
