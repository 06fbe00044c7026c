import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { ask, inNamespace } from '../network/host.fixture.ts';
import { sctpInit } from '../network/sctp.fixture.ts';
import {
  askFrom,
  eventually,
  isUpstream,
  node,
  outcome,
  POD_CIDRS,
  ProxyFixture,
  service,
  slice,
} from './proxy.fixture.ts';

const HOST = { 4: '10.242.41.1', 6: 'fd00:242:41::1' };
/** For tests of behavior that upstream's kube-proxy lacks. */
const options = { skip: isUpstream && 'kube-proxy differs' };
const here = { resource: 'nodes', object: node } as const;
const sourceOf = (answer: string): string => answer.split(' ')[1]!;
const nameOf = (answer: string): string => answer.split(' ')[0]!;

test('a cluster IP is reachable from a pod, from its own endpoint, from the host and from outside, in both IP families', async () => {
  using fixture = new ProxyFixture();
  const [client, server] = [fixture.pod('client'), fixture.pod('server')];
  for (const protocol of ['tcp', 'udp'] as const) await fixture.serve(server, protocol, 8080);
  const ports = ['TCP', 'UDP'].map((protocol) => ({ name: protocol.toLowerCase(), port: 80, protocol }));
  const slices = ([4, 6] as const).map((version) => ({
    ...slice('web', [server], { version }),
    ports: ports.map(({ name, protocol }) => ({ name, port: 8080, protocol })),
  }));
  await fixture.start([
    here,
    { resource: 'services', object: service('web', 1, { ports }) },
    ...slices.map((object) => ({ resource: 'slices', object }) as const),
  ]);
  for (const protocol of ['tcp', 'udp'] as const) {
    for (const [version, address] of [
      [4, '10.96.0.1'],
      [6, 'fd00:96::1'],
    ] as const) {
      const bridge = version === 4 ? '10.241.41.1' : 'fd00:241:41::1';
      const what = `${protocol} ${address}`;
      assert.equal(ask(client.netns, protocol, address, 80), `server ${client.ips[version === 4 ? 0 : 1]}`, what);
      assert.equal(ask(server.netns, protocol, address, 80), `server ${bridge}`, `${what} hairpin`);
      assert.equal(ask(fixture.host, protocol, address, 80), `server ${bridge}`, `${what} from the host`);
    }
    assert.equal(ask(fixture.outside.netns, protocol, '10.96.0.1', 80), 'server 10.241.41.1');
  }
});

test(
  'where bridged packets do not pass the packet filter, connections on the bridge are masqueraded',
  options,
  async () => {
    using fixture = new ProxyFixture();
    const [client, server] = [fixture.pod('client'), fixture.pod('server')];
    fixture.onHost('sysctl -qw net.bridge.bridge-nf-call-iptables=0 net.bridge.bridge-nf-call-ip6tables=0');
    await fixture.serve(server, 'tcp', 80);
    await fixture.start(
      [
        here,
        { resource: 'services', object: service('web', 1) },
        { resource: 'slices', object: slice('web', [server]) },
        { resource: 'slices', object: slice('web', [server], { version: 6 }) },
      ],
      { bridgedCidrs: POD_CIDRS },
    );
    assert.equal(ask(client.netns, 'tcp', '10.96.0.1', 80), 'server 10.241.41.1');
    assert.equal(ask(client.netns, 'tcp', 'fd00:96::1', 80), 'server fd00:241:41::1');
    assert.equal(ask(server.netns, 'tcp', '10.96.0.1', 80), 'server 10.241.41.1');
  },
);

test('a service without endpoints and an unknown port of a cluster IP are refused at once', async () => {
  using fixture = new ProxyFixture();
  const [client, server] = [fixture.pod('client'), fixture.pod('server')];
  await fixture.serve(server, 'tcp', 80);
  await fixture.serve(server, 'udp', 80);
  const spec = {
    type: 'NodePort' as const,
    ports: [{ port: 80, protocol: 'TCP', nodePort: 30080 }],
    externalIPs: ['192.0.2.7'],
  };
  await fixture.start([here, { resource: 'services', object: service('web', 1, spec) }]);
  const netnses = [client.netns, fixture.host, fixture.outside.netns];
  for (const netns of netnses) {
    assert.equal(outcome(netns, 'tcp', HOST[4], 30080), 'refused');
    if (isUpstream && netns === fixture.outside.netns) continue; // the ICMP error of kube-proxy does not arrive there
    assert.equal(outcome(netns, 'tcp', '10.96.0.1', 80), 'refused');
  }
  assert.equal(outcome(client.netns, 'tcp', '192.0.2.7', 80), 'refused');
  assert.equal(outcome(client.netns, 'tcp', '10.96.0.1', 81), 'refused');
  assert.equal(outcome(fixture.host, 'tcp', '10.96.0.1', 81), 'refused');
  await fixture.put('slices', slice('web', [server]));
  assert.match(await eventually(() => ask(client.netns, 'tcp', '10.96.0.1', 80)), /^server /);
  assert.equal(outcome(client.netns, 'tcp', '10.96.0.1', 81), 'refused');
});

test('connections are distributed over the endpoints, and a removed endpoint gets none', async () => {
  using fixture = new ProxyFixture();
  const pods = ['a', 'b', 'c'].map((name) => fixture.pod(name));
  for (const pod of pods) await fixture.serve(pod, 'tcp', 80);
  await fixture.start([
    here,
    { resource: 'services', object: service('web', 1) },
    { resource: 'slices', object: slice('web', pods) },
  ]);
  const names = (count: number) =>
    new Set(Array.from({ length: count }, () => nameOf(ask(fixture.host, 'tcp', '10.96.0.1', 80))));
  assert.deepEqual([...names(40)].sort(), ['a', 'b', 'c']);
  await fixture.put('slices', slice('web', pods.slice(1)));
  await eventually(() => (names(20).has('a') ? undefined : true));
  assert.deepEqual([...names(30)].sort(), ['b', 'c']);
  // the proxy removes an unused chain along with some other change, at least a second later, so keep changing a Service
  await eventually(async () => {
    await fixture.put('services', service('other', 2, { ports: [{ port: Date.now() % 60_000 }] }));
    return fixture.table().includes('pick_cluster4-3') ? undefined : true;
  });
});

test('node ports and external addresses are masqueraded with policy Cluster, and preserve the source with Local', async () => {
  using fixture = new ProxyFixture();
  const [client, server] = [fixture.pod('client'), fixture.pod('server')];
  await fixture.serve(server, 'tcp', 80);
  inNamespace(fixture.outside.netns, 'ip route add 192.0.2.0/24 via 10.242.41.1');
  const spec = {
    type: 'LoadBalancer' as const,
    externalIPs: ['192.0.2.7'],
    ports: [{ port: 80, protocol: 'TCP', nodePort: 30080 }],
  };
  const object = {
    ...service('web', 1, spec),
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.8' }] } },
  };
  await fixture.start([
    here,
    { resource: 'services', object },
    { resource: 'slices', object: slice('web', [server]) },
    { resource: 'slices', object: slice('web', [server], { version: 6 }) },
  ]);
  const all: [string, number][] = [
    [HOST[4], 30080],
    ['192.0.2.7', 80],
    ['192.0.2.8', 80],
  ];
  for (const [address, port] of all)
    assert.equal(ask(fixture.outside.netns, 'tcp', address, port), 'server 10.241.41.1', address);
  assert.equal(ask(fixture.outside.netns, 'tcp', HOST[6], 30080), 'server fd00:241:41::1');
  assert.equal(outcome(fixture.host, 'tcp', '127.0.0.1', 30080), 'refused');
  await fixture.put('services', {
    ...object,
    spec: { ...object.spec, externalTrafficPolicy: 'Local' },
  } as typeof object);
  for (const [address, port] of all)
    await eventually(() => sourceOf(ask(fixture.outside.netns, 'tcp', address, port)) === '10.242.41.2' || undefined);
  await fixture.put('slices', slice('web', [server], { nodeName: 'elsewhere' }));
  await eventually(() => outcome(fixture.outside.netns, 'tcp', HOST[4], 30080) === 'timed out' || undefined);
  assert.match(ask(fixture.host, 'tcp', HOST[4], 30080), /^server /);
  assert.match(ask(client.netns, 'tcp', HOST[4], 30080), /^server /);
});

test('the source ranges of a load balancer restrict its address, but not the node port', async () => {
  using fixture = new ProxyFixture();
  const server = fixture.pod('server');
  await fixture.serve(server, 'tcp', 80);
  inNamespace(fixture.outside.netns, 'ip route add 192.0.2.0/24 via 10.242.41.1');
  const make = (range: string) => ({
    ...service('web', 1, {
      type: 'LoadBalancer' as const,
      loadBalancerSourceRanges: [range],
      ports: [{ port: 80, protocol: 'TCP', nodePort: 30080 }],
    }),
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.8' }] } },
  });
  await fixture.start([
    here,
    { resource: 'services', object: make('203.0.113.0/24') },
    { resource: 'slices', object: slice('web', [server]) },
  ]);
  assert.equal(outcome(fixture.outside.netns, 'tcp', '192.0.2.8', 80), 'timed out');
  assert.match(ask(fixture.outside.netns, 'tcp', HOST[4], 30080), /^server /);
  await fixture.put('services', make(' 10.242.41.0/24'));
  assert.match(await eventually(() => ask(fixture.outside.netns, 'tcp', '192.0.2.8', 80)), /^server /);
});

test('session affinity keeps a client at its endpoint, even after a restart, until the endpoint is removed', async () => {
  using fixture = new ProxyFixture();
  const pods = ['a', 'b', 'c', 'd'].map((name) => fixture.pod(name));
  for (const pod of pods) await fixture.serve(pod, 'tcp', 80);
  const spec = {
    type: 'NodePort' as const,
    ports: [{ port: 80, protocol: 'TCP', nodePort: 30080 }],
    sessionAffinity: 'ClientIP' as const,
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 600 } },
  };
  const start = () =>
    fixture.start([
      here,
      { resource: 'services', object: service('web', 1, spec) },
      { resource: 'slices', object: slice('web', pods) },
    ]);
  await start();
  const names = () => [
    ...new Set(
      Array.from({ length: 8 }, (_, index) =>
        nameOf(
          ask(
            fixture.outside.netns,
            'tcp',
            ...((index % 2 ? ['10.96.0.1', 80] : [HOST[4], 30080]) as [string, number]),
          ),
        ),
      ),
    ),
  ];
  const [first, ...others] = names();
  assert.deepEqual(others, []);
  await fixture.kill();
  await start();
  assert.deepEqual(names(), [first]);
  const left = pods.filter(({ name }) => name !== first);
  await fixture.put('slices', slice('web', left));
  const second = await eventually(() => names().find((name) => name !== first));
  assert.deepEqual(names(), [second]);
});

test('a UDP flow moves to another endpoint when its own is removed, and is refused when none is left', async () => {
  using fixture = new ProxyFixture();
  const [client, a, b] = [fixture.pod('client'), fixture.pod('a'), fixture.pod('b')];
  for (const pod of [a, b]) await fixture.serve(pod, 'udp', 53);
  const ports = [{ port: 53, protocol: 'UDP' }];
  const options = { port: 53, protocol: 'UDP' };
  await fixture.start([
    here,
    { resource: 'services', object: service('dns', 2, { ports }) },
    { resource: 'slices', object: slice('dns', [a], options) },
  ]);
  const asked = () => nameOf(askFrom(client.netns, 5353, '10.96.0.2', 53));
  assert.equal(asked(), 'a');
  await fixture.put('slices', slice('dns', [b], options));
  await eventually(() => asked() === 'b' || undefined);
  if (isUpstream) return; // kube-proxy keeps flows to the last endpoint
  await fixture.put('slices', slice('dns', [], options));
  await eventually(() => outcome(client.netns, 'udp', '10.96.0.2', 53) !== 'b' || undefined);
  assert.equal(asked(), '');
});

test('SCTP packets reach the endpoint at its port', async () => {
  using fixture = new ProxyFixture();
  const server = fixture.pod('server');
  await fixture.start([
    here,
    { resource: 'services', object: service('web', 1, { ports: [{ port: 9999, protocol: 'SCTP' }] }) },
    { resource: 'slices', object: slice('web', [server], { port: 90, protocol: 'SCTP' }) },
  ]);
  const receiver = spawn('nsenter', [`--net=${server.netns}`, 'socat', '-u', 'IP4-RECV:132', '-']);
  await once(receiver, 'spawn');
  const packet = sctpInit(5555, 9999).toString('hex').replace(/../g, '\\x$&');
  const send = `bash -c 'printf "${packet}"' | socat -u - IP4-SENDTO:10.96.0.1:132`;
  const sender = setInterval(() => inNamespace(fixture.outside.netns, send), 200);
  try {
    const [received]: Buffer[] = await once(receiver.stdout, 'data', { signal: AbortSignal.timeout(20_000) });
    assert.equal(received!.readUInt16BE(2), 90);
  } finally {
    clearInterval(sender);
    receiver.kill('SIGKILL');
  }
});

test('rules removed or changed by another program are restored, and others remain unchanged', options, async () => {
  using fixture = new ProxyFixture();
  const server = fixture.pod('server');
  fixture.onHost('nft add table inet other');
  await fixture.start([
    here,
    { resource: 'services', object: service('web', 1) },
    { resource: 'slices', object: slice('web', [server]) },
  ]);
  const own = () => fixture.onHost('nft list table inet podwright-services');
  const whole = own();
  for (const damage of [
    'flush ruleset',
    'flush table inet podwright-services',
    'flush chain inet podwright-services services',
    'flush map inet podwright-services cluster4',
    'delete element inet podwright-services cluster_ips4 { 10.96.0.1 }',
  ]) {
    fixture.onHost(`nft ${damage}`);
    await eventually(() => own() === whole || undefined);
  }
  const handles = () => fixture.onHost('nft -a list table inet podwright-services');
  const before = handles();
  fixture.onHost('nft add table inet other; nft add chain inet other c');
  await fixture.put('services', service('new', 2));
  await eventually(() => own().includes('10.96.0.2') || undefined);
  const rulesOf = (text: string) => text.split('\n').filter((line) => /handle/.test(line));
  assert.deepEqual(rulesOf(handles()), rulesOf(before));
});

test('the health check port of a service reports the ready endpoints on the node', async () => {
  using fixture = new ProxyFixture();
  const server = fixture.pod('server');
  const object = service('web', 1, {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 32001,
    ports: [{ port: 80, protocol: 'TCP', nodePort: 30080 }],
  });
  await fixture.start([here, { resource: 'services', object }, { resource: 'slices', object: slice('web', [server]) }]);
  const get = () =>
    inNamespace(
      fixture.outside.netns,
      `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | socat -T5 - TCP:${HOST[4]}:32001,connect-timeout=3`,
    );
  const first = await eventually(get);
  assert.match(first, /^HTTP\/1\.\d 200 /);
  assert.match(first, /x-load-balancing-endpoint-weight: 1\r\n/i);
  assert.deepEqual(JSON.parse(first.split('\r\n\r\n')[1]!), {
    service: { namespace: 'default', name: 'web' },
    localEndpoints: 1,
    serviceProxyHealthy: true,
  });
  await fixture.put('slices', slice('web', [server], { nodeName: 'elsewhere' }));
  await eventually(() => /^HTTP\/1\.\d 503 /.test(get()) || undefined);
});

test('rules stay after a stop, and are removed on request', options, async () => {
  using fixture = new ProxyFixture();
  const server = fixture.pod('server');
  await fixture.serve(server, 'tcp', 80);
  const start = () =>
    fixture.start([
      here,
      { resource: 'services', object: service('web', 1) },
      { resource: 'slices', object: slice('web', [server]) },
    ]);
  await start();
  await fixture.command({ do: 'stop', removeRules: false });
  assert.match(ask(fixture.host, 'tcp', '10.96.0.1', 80), /^server /);
  await start();
  await fixture.command({ do: 'stop', removeRules: true });
  assert.equal(fixture.onHost('nft list ruleset').trim(), '');
});
