import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import type { PortMapping } from '../../packages/runtime/src/network/network.ts';
import { ask, HostFixture, type HostPod, inNamespace, type RulesRun, type RulesStep } from './host.fixture.ts';
import { sctpInit } from './sctp.fixture.ts';

const mapping = (hostPort: number, more: Partial<PortMapping> = {}): PortMapping => ({
  ...{ protocol: 'tcp', containerPort: 80, hostPort, hostIp: '' },
  ...more,
});
const publish = ({ name, ips }: HostPod, ...mappings: PortMapping[]): RulesStep => {
  return { call: 'publish', sandboxId: `sandbox-${name}`, ports: { ips, mappings } };
};
const withdraw = ({ name }: HostPod): RulesStep => ({ call: 'withdraw', sandboxId: `sandbox-${name}` });
const udp = { protocol: 'udp', containerPort: 53 } as const;
const filters: RulesRun['filter'][] = ['nft', 'iptables'];

for (const filter of filters) {
  test(`a host port leads to the pod for all clients (${filter})`, async () => {
    using fixture = new HostFixture(filter);
    const { host, outside, addresses } = fixture;
    const [pod, neighbour] = [fixture.pod('a'), fixture.pod('b')];
    await fixture.serve(pod, 'tcp', 80);
    fixture.rules(publish(pod, mapping(8080)));
    assert.match(ask(host, 'tcp', '127.0.0.1', 8080), /^a 10\.241\.41\.1$/);
    assert.match(ask(host, 'tcp', addresses[4], 8080), /^a /);
    assert.match(ask(host, 'tcp', addresses[6], 8080), /^a /);
    assert.equal(ask(outside.netns, 'tcp', addresses[4], 8080), `a ${outside.ips[0]}`);
    assert.equal(ask(outside.netns, 'tcp', addresses[6], 8080), `a ${outside.ips[1]}`);
    for (const client of [pod, neighbour]) {
      assert.equal(ask(client.netns, 'tcp', addresses[4], 8080), 'a 10.241.41.1');
      assert.equal(ask(client.netns, 'tcp', addresses[6], 8080), 'a fd00:241:41::1');
      assert.equal(ask(client.netns, 'tcp', '10.241.41.1', 8080), 'a 10.241.41.1');
    }
    assert.equal(ask(neighbour.netns, 'tcp', pod.ips[0]!, 80), `a ${neighbour.ips[0]}`);
    assert.throws(() => ask(host, 'tcp', '::1', 8080), /Connection refused/);

    fixture.rules(withdraw(pod), withdraw(pod), { call: 'withdraw', sandboxId: 'unknown' });
    assert.throws(() => ask(host, 'tcp', '127.0.0.1', 8080), /Connection refused/);
    assert.throws(() => ask(outside.netns, 'tcp', addresses[6], 8080), /Connection refused/);
  });

  test(`pods reach outside hosts with the address of the host (${filter})`, async () => {
    using fixture = new HostFixture(filter);
    const pod = fixture.pod('a');
    await fixture.serve(fixture.outside, 'tcp', 90);
    fixture.rules({ call: 'ensure' });
    assert.equal(ask(pod.netns, 'tcp', fixture.outside.ips[0]!, 90), 'outside 10.242.41.1');
    assert.equal(ask(pod.netns, 'tcp', fixture.outside.ips[1]!, 90), 'outside fd00:242:41::1');
  });

  test(`a port on one address of the host is not on the others (${filter})`, async () => {
    using fixture = new HostFixture(filter);
    const { host, addresses } = fixture;
    const pod = fixture.pod('a');
    await fixture.serve(pod, 'tcp', 80);
    const ports = [
      mapping(8081, { hostIp: '127.0.0.1' }),
      mapping(8082, { hostIp: addresses[4] }),
      mapping(8083, { hostIp: addresses[6] }),
      mapping(8084, { hostIp: '0.0.0.0' }),
    ];
    fixture.rules(publish(pod, ...ports));
    const reached = (address: string, port: number) => {
      try {
        return ask(host, 'tcp', address, port).startsWith('a ');
      } catch {
        return false;
      }
    };
    const of = (address: string) => [8081, 8082, 8083, 8084].filter((port) => reached(address, port));
    assert.deepEqual(of('127.0.0.1'), [8081, 8084]);
    assert.deepEqual(of(addresses[4]), [8082, 8084]);
    assert.deepEqual(of(addresses[6]), [8083]);
  });

  test(`only the host reaches its loopback addresses and ports published on them (${filter})`, async () => {
    using fixture = new HostFixture(filter);
    const pod = fixture.pod('a');
    await fixture.serve(pod, 'tcp', 80);
    await fixture.serve({ name: 'host', netns: fixture.host }, 'tcp', 90);
    fixture.rules(publish(pod, mapping(8081, { hostIp: '127.0.0.1' })));
    assert.match(ask(fixture.host, 'tcp', '127.0.0.1', 8081), /^a /);
    fixture.onHost('sysctl -qw net.ipv4.conf.out.route_localnet=1');
    for (const [{ netns }, gateway] of [
      [fixture.outside, fixture.addresses[4]],
      [pod, '10.241.41.1'],
    ] as const) {
      inNamespace(
        netns,
        `sysctl -qw net.ipv4.conf.all.route_localnet=1; ip address del 127.0.0.1/8 dev lo
        ip route add 127.0.0.1 via ${gateway} src $(ip -4 -o address show eth0 | sed 's/.*inet \\([0-9.]*\\).*/\\1/')`,
      );
      assert.throws(() => ask(netns, 'tcp', '127.0.0.1', 8081), /timed out|refused/);
    }
    assert.throws(() => ask(pod.netns, 'tcp', '127.0.0.1', 90), /timed out/);
  });

  test(`of two pods with one host port the first has it, and the second gets it afterwards (${filter})`, async () => {
    using fixture = new HostFixture(filter);
    const [first, second] = [fixture.pod('a'), fixture.pod('b')];
    for (const pod of [first, second]) await fixture.serve(pod, 'tcp', 80);
    fixture.rules(publish(first, mapping(8080)), publish(second, mapping(8080)));
    assert.match(ask(fixture.host, 'tcp', '127.0.0.1', 8080), /^a /);
    fixture.rules({ call: 'ensure' });
    assert.match(ask(fixture.host, 'tcp', '127.0.0.1', 8080), /^a /);
    fixture.rules({ call: 'ensure' }, withdraw(first));
    assert.match(ask(fixture.host, 'tcp', '127.0.0.1', 8080), /^b /);
  });

  test(`a UDP flow from before the port was published reaches the pod, and later the next pod (${filter})`, async () => {
    using fixture = new HostFixture(filter);
    const { host, outside, addresses } = fixture;
    const pods = [fixture.pod('a'), fixture.pod('b')];
    for (const pod of pods) await fixture.serve(pod, 'udp', 53);
    const send = `echo | socat -u - UDP:${addresses[4]}:53,sourceport=4444`;
    const receive = `echo | socat -t5 - UDP:${addresses[4]}:53,sourceport=4444,readbytes=2`;
    fixture.rules({ call: 'ensure' }); // enables connection tracking on the host
    inNamespace(outside.netns, send);
    assert.match(fixture.onHost('cat /proc/net/nf_conntrack'), /sport=4444 dport=53/);
    for (const pod of pods) {
      fixture.rules(publish(pod, mapping(53, udp)));
      assert.match(inNamespace(outside.netns, receive), new RegExp(`^${pod.name} `));
      assert.match(ask(host, 'udp', '127.0.0.1', 53), new RegExp(`^${pod.name} `));
      fixture.rules({ call: 'ensure' });
      assert.match(fixture.onHost('cat /proc/net/nf_conntrack'), /sport=4444 dport=53 src=10\.241\.41/);
      fixture.rules(withdraw(pod));
    }
  });

  test(`a UDP flow does not continue to the address of a removed pod (${filter})`, async () => {
    using fixture = new HostFixture(filter);
    const { host, outside, addresses } = fixture;
    const pod = fixture.pod('a');
    await fixture.serve(pod, 'udp', 53);
    const receive = (address: string) => `echo | socat -t5 - UDP:${address}:5353,sourceport=4444,readbytes=2`;
    const clients = [
      [outside.netns, receive(addresses[4])],
      [host, receive('127.0.0.1')],
    ] as const;
    fixture.rules(publish(pod, mapping(5353, udp)));
    for (const client of clients) assert.match(inNamespace(...client), /^a /);
    fixture.rules(withdraw(pod)); // by another process than the one that published the port
    for (const client of clients) assert.throws(() => inNamespace(...client), /Connection refused/);
    fixture.rules(publish(pod, mapping(5353, udp)), withdraw(pod));
    for (const client of clients) assert.throws(() => inNamespace(...client), /Connection refused/);
  });

  test(`ports of SCTP lead to the pod (${filter})`, async () => {
    using fixture = new HostFixture(filter);
    const pod = fixture.pod('a');
    fixture.rules(publish(pod, mapping(9999, { protocol: 'sctp', containerPort: 90 })));
    const receiver = spawn('nsenter', [`--net=${pod.netns}`, 'socat', '-u', 'IP4-RECV:132', '-']);
    await once(receiver, 'spawn');
    const packet = sctpInit(5555, 9999).toString('hex').replace(/../g, '\\x$&');
    const sender = setInterval(() => {
      inNamespace(
        fixture.outside.netns,
        `bash -c 'printf "${packet}"' | socat -u - IP4-SENDTO:${fixture.addresses[4]}:132`,
      );
    }, 200);
    try {
      const [received]: Buffer[] = await once(receiver.stdout, 'data', { signal: AbortSignal.timeout(20_000) });
      assert.deepEqual([received!.readUInt16BE(0), received!.readUInt16BE(2)], [5555, 90]);
    } finally {
      clearInterval(sender);
      receiver.kill('SIGKILL');
    }
  });
}
