import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { errorCode, waitFor } from '@podwright/base';
import { bounded, fetchInside, inside, NetworkFixture, run } from './network.fixture.ts';
import { networkSuite } from './network.suite.ts';

networkSuite({ name: 'default network', number: 241, prepare: () => undefined, undo: () => undefined });

/** Number of pods; tested manually with a thousand. */
const PODS = Number(process.env.TEST_PODS ?? 80);

const published = (hostPort: number) => ({
  portMappings: [{ protocol: 'tcp' as const, containerPort: 80, hostPort, hostIp: '' }],
});

test('nothing is left on the host after removing the pods and the network', async () => {
  await using fixture = new NetworkFixture('pwt-life0', '10.241.51.0/24,fd00:241:51::/64');
  const network = await fixture.open();
  const pod = fixture.pod('life', { ...published(38251), bandwidth: { egressRate: 1_000_000 } });
  await network.setUp(pod, bounded());
  await network.tearDown(pod, bounded());
  fixture.removeNamespace(pod.netnsPath);
  await fixture.untilLinksAreGone();
  await network.close({ removeHostState: true });
  assert.deepEqual(fixture.leftovers(), []);
});

test("pods have the configured MTU, or that of the host's uplink", async () => {
  const [, uplink = 'lo'] = /^default .*\bdev (\S+)/m.exec(run('ip', ['route', 'show', 'default'])) ?? [];
  const uplinkMtu = Math.min(Number(readFileSync(`/sys/class/net/${uplink}/mtu`, 'utf8')), 65_535);
  for (const [name, given, mtu] of [
    ['given', { mtu: 1400 }, 1400],
    ['uplink', {}, uplink === 'lo' ? 1500 : uplinkMtu],
  ] as const) {
    await using fixture = new NetworkFixture('pwt-mtu0', '10.241.97.0/24');
    const network = await fixture.open(undefined, given);
    const pod = fixture.pod(name);
    await network.setUp(pod, bounded());
    assert.match(inside(pod, 'ip', ['link', 'show', 'dev', 'eth0']), new RegExp(` mtu ${mtu} `));
    assert.match(run('ip', ['link', 'show', 'dev', fixture.bridge]), new RegExp(` mtu ${mtu} `));
  }
});

test('two networks on one host do not affect each other', async () => {
  await using first = new NetworkFixture('pwt-side0', '10.241.52.0/24');
  await using second = new NetworkFixture('pwt-side1', '10.241.53.0/24');
  const [one, other] = [await first.open(), await second.open()];
  const [pod, neighbour] = [first.pod('same-id'), second.pod('same-id')];
  await one.setUp(pod, bounded());
  const { ips } = await other.setUp(neighbour, bounded());
  await one.tearDown(pod, bounded());
  await one.close({ removeHostState: true });
  assert.deepEqual(first.leftovers(), []);
  assert.deepEqual(await other.list(), ['same-id']);
  assert.match(inside(neighbour, 'ip', ['-br', 'address']), new RegExp(`eth0.*${ips[0]}`));
  assert.match(run('nft', ['list', 'ruleset']), /10\.241\.53\.0\/24.*masquerade/);
});

test('a pod that is attached in advance keeps its address when it is set up', async () => {
  await using fixture = new NetworkFixture('pwt-ahead0', '10.241.54.0/24');
  const network = await fixture.open();
  const pod = fixture.pod('ahead', published(38254));
  assert.equal(await network.prepare(pod.sandboxId, pod.netnsPath, bounded()), true);
  assert.match(inside(pod, 'ip', ['-br', 'address']), /eth0.*10\.241\.54\.2\/24/);
  assert.doesNotMatch(run('nft', ['list', 'ruleset']), /38254/);
  assert.deepEqual((await network.setUp(pod, bounded())).ips, ['10.241.54.2']);
  assert.match(run('nft', ['list', 'ruleset']), /38254/);
  const unused = fixture.pod('unused');
  await network.prepare(unused.sandboxId, unused.netnsPath, bounded());
  assert.deepEqual(await network.list(), ['ahead', 'unused']);
  await network.tearDown(unused, bounded());
  assert.deepEqual(await network.list(), ['ahead']);
});

test('the link and bridge of a pod attached in advance are re-created if they have been removed meanwhile', async () => {
  await using fixture = new NetworkFixture('pwt-ahead1', '10.241.74.0/24');
  const network = await fixture.open();
  for (const name of ['link', 'bridge']) {
    const pod = fixture.pod(name);
    await network.prepare(pod.sandboxId, pod.netnsPath, bounded());
    const [, link = ''] = /(veth[0-9a-f]{11})@/.exec(fixture.podLinks().at(-1)!)!;
    run('ip', ['link', 'delete', name === 'link' ? link : fixture.bridge]);
    const { ips } = await network.setUp(pod, bounded());
    // check the flags rather than `state UP`: if links change frequently, the kernel updates a bridge's operational state only once a
    // second
    const isUp = (address: string) => new RegExp(`<[^>]*\\bUP,LOWER_UP[^]* inet ${address}/24`);
    assert.match(inside(pod, 'ip', ['address', 'show', 'dev', 'eth0']), isUp(ips[0]!));
    assert.match(run('ip', ['address', 'show', 'dev', fixture.bridge]), isUp('10.241.74.1'));
  }
});

test('the next process completes setups and removals that the last one left unfinished', async () => {
  await using fixture = new NetworkFixture('pwt-half0', '10.241.55.0/24');
  const pod = fixture.pod('half');
  await (await fixture.open()).prepare(pod.sandboxId, pod.netnsPath, bounded());
  inside(pod, 'ip', ['address', 'flush', 'dev', 'eth0']);
  inside(pod, 'ip', ['link', 'set', 'eth0', 'down']);
  const network = await fixture.open();
  assert.deepEqual((await network.setUp(pod, bounded())).ips, ['10.241.55.2']);
  assert.match(inside(pod, 'ip', ['-br', 'address']), /eth0.*UP.*10\.241\.55\.2\/24/);
  assert.match(inside(pod, 'ip', ['route']), /default via 10\.241\.55\.1/);
});

test('an address is not reassigned until the link of its last pod has been removed, even after a restart', async () => {
  await using fixture = new NetworkFixture('pwt-early0', '10.241.56.0/30');
  const network = await fixture.open();
  const [first, second, third] = ['a', 'b', 'c'].map((name) => fixture.pod(name)) as [Pod, Pod, Pod];
  assert.deepEqual((await network.setUp(first, bounded())).ips, ['10.241.56.2']);
  await network.tearDown(first, bounded());
  const waiting = network.setUp(second, bounded());
  assert.match(inside(first, 'ip', ['-br', 'address']), /10\.241\.56\.2/);
  fixture.removeNamespace(first.netnsPath);
  assert.deepEqual((await waiting).ips, ['10.241.56.2']);

  const next = await fixture.open();
  const full = await next.setUp(third, bounded()).catch((error) => error);
  assert.equal(errorCode(full), 'resource_exhausted');
  assert.match(full.message, /none is left in 10\.241\.56\.0\/30/);
  await next.tearDown(second, bounded());
  fixture.removeNamespace(second.netnsPath);
  assert.deepEqual((await next.setUp(third, bounded())).ips, ['10.241.56.2']);
});

test('a link whose namespace is held open is removed after a while, and its address is reassigned', async () => {
  await using fixture = new NetworkFixture('pwt-held0', '10.241.57.0/30');
  const network = await fixture.open();
  const [held, next] = [fixture.pod('held'), fixture.pod('next')];
  await network.setUp(held, bounded());
  await network.tearDown(held, bounded());
  assert.deepEqual((await network.setUp(next, bounded())).ips, ['10.241.57.2']);
  assert.doesNotMatch(inside(held, 'ip', ['-br', 'link']), /eth0/);
});

test('a small subnet is sufficient for pods that are added and removed in quick succession', async () => {
  await using fixture = new NetworkFixture('pwt-churn0', '10.241.58.0/29');
  const network = await fixture.open();
  const live = async (name: string) => {
    const pod = fixture.pod(name);
    const { ips } = await network.setUp(pod, bounded());
    assert.match(inside(pod, 'ip', ['-br', 'address']), new RegExp(`${ips[0]}/29`));
    await network.tearDown(pod, bounded());
    fixture.removeNamespace(pod.netnsPath);
  };
  const oneAfterTheOther = async (name: string) => {
    for (let round = 0; round < 20; round++) await live(`${name}-${round}`);
  };
  await Promise.all(['a', 'b', 'c', 'd'].map(oneAfterTheOther));
  await fixture.untilLinksAreGone();
  assert.deepEqual(await network.list(), []);
});

test(`${PODS} pods that are added and removed leave nothing behind`, async () => {
  await using fixture = new NetworkFixture('pwt-lots0', '10.240.0.0/22,fd00:240::/64');
  const network = await fixture.open();
  let left = PODS;
  const live = async () => {
    while (left > 0) {
      const pod = fixture.pod(`lots-${left--}`, published(38_300 + (left % 100)));
      await network.setUp(pod, bounded());
      await network.tearDown(pod, bounded());
      fixture.removeNamespace(pod.netnsPath);
    }
  };
  await Promise.all(Array.from({ length: 8 }, live));
  await fixture.untilLinksAreGone();
  await network.close({ removeHostState: true });
  assert.deepEqual(fixture.leftovers(), []);
});

test('a client of a removed pod immediately reaches the next pod with the same address', async () => {
  await using fixture = new NetworkFixture('pwt-arp0', '10.241.59.0/29,fd00:241:59::/125');
  const network = await fixture.open();
  const client = fixture.pod('client');
  await network.setUp(client, bounded());
  for (let round = 0; round < 7; round++) {
    const pod = fixture.pod(`server-${round}`);
    const { ips } = await network.setUp(pod, bounded());
    await fixture.serve(pod, 'tcp', 80);
    await fixture.serve(pod, 'tcp6', 80);
    for (const ip of ips) assert.match(fetchInside(client, ip, 80), new RegExp(`^server-${round} `));
    await network.tearDown(pod, bounded());
    fixture.endServers();
    fixture.removeNamespace(pod.netnsPath);
  }
});

test('a pod that lost its address file is found by its link', async () => {
  await using fixture = new NetworkFixture('pwt-stray0', '10.241.60.0/24');
  const pod = fixture.pod('stray');
  await (await fixture.open()).setUp(pod, bounded());
  rmSync(join(fixture.directory, 'state'), { recursive: true });
  const network = await fixture.open();
  assert.deepEqual(await network.list(), ['stray']);
  await network.tearDown(pod, bounded());
  fixture.removeNamespace(pod.netnsPath);
  await fixture.untilLinksAreGone();
  run('ip', ['link', 'delete', fixture.bridge]); // the lost files also recorded that the bridge is the network's own
});

test('after a reboot a pod’s state is removed, and its address is reassigned', async () => {
  await using fixture = new NetworkFixture('pwt-boot0', '10.241.61.0/24');
  const pod = fixture.pod('boot');
  await (await fixture.open()).setUp(pod, bounded());
  fixture.removeNamespace(pod.netnsPath);
  run('ip', ['link', 'delete', fixture.bridge]);
  run('nft', ['delete', 'table', 'inet', `podwright_${fixture.bridge}`]);
  rmSync(join(fixture.directory, 'state'), { recursive: true });
  const network = await fixture.open();
  await network.tearDown(pod, bounded());
  assert.deepEqual(await network.list(), []);
  assert.deepEqual((await network.setUp(fixture.pod('boot-next'), bounded())).ips, ['10.241.61.2']);
});

test('a removed bridge is re-created with its rules, and its pods are reconnected', async () => {
  await using fixture = new NetworkFixture('pwt-back0', '10.241.62.0/24');
  const network = await fixture.open();
  const [first, second] = [fixture.pod('back-a'), fixture.pod('back-b')];
  await network.setUp(first, bounded());
  run('ip', ['link', 'delete', fixture.bridge]);
  run('nft', ['delete', 'table', 'inet', `podwright_${fixture.bridge}`]);
  const { ips } = await network.setUp(second, bounded());
  assert.match(run('nft', ['list', 'ruleset']), /10\.241\.62\.0\/24.*masquerade/);
  await fixture.serve(second, 'tcp', 80);
  const answered = async () => {
    try {
      return fetchInside(first, ips[0]!, 80);
    } catch {
      return undefined; // the bridge port does not forward yet
    }
  };
  assert.equal(await waitFor(answered, { intervalMs: 50, signal: bounded() }), 'back-b 10.241.62.2');
});

test('a foreign bridge is used but not removed', async () => {
  await using fixture = new NetworkFixture('pwt-theirs0', '10.241.63.0/24');
  run('ip', ['link', 'add', fixture.bridge, 'type', 'bridge']);
  try {
    const network = await fixture.open();
    const pod = fixture.pod('theirs');
    await network.setUp({ ...pod, ...published(38263) }, bounded());
    const routesLoopback = () => readFileSync(`/proc/sys/net/ipv4/conf/${fixture.bridge}/route_localnet`, 'utf8');
    assert.equal(routesLoopback(), '1\n');
    await network.tearDown(pod, bounded());
    await network.close({ removeHostState: true });
    assert.match(run('ip', ['-br', 'link', 'show', fixture.bridge]), /pwt-theirs0/);
    assert.equal(routesLoopback(), '0\n', 'its ports do not reach loopback addresses of the host');
  } finally {
    run('ip', ['link', 'delete', fixture.bridge]);
  }
});

/** Asserts that the pod network is not ready while the host has a conflicting link, and works once the link is removed. */
async function assertRefused(fixture: NetworkFixture, commands: string[][], expected: RegExp): Promise<void> {
  const network = await fixture.open();
  for (const command of commands) run('ip', command);
  try {
    const status = await network.status();
    assert.ok(!status.ready);
    assert.match(status.message, expected);
    assert.match((await network.describe()).problem ?? '', expected);
    const error = await network.setUp(fixture.pod('refused'), bounded()).catch((reason) => reason);
    assert.equal(errorCode(error), 'failed_precondition');
    assert.match(error.message, expected);
    assert.deepEqual(await network.list(), []);
  } finally {
    run('ip', ['link', 'delete', commands[0]![3]!]);
  }
  assert.deepEqual(await network.status(), { ready: true });
  await network.setUp(fixture.pod('accepted'), bounded());
}

test('a subnet that overlaps a host network is rejected, and a free one is suggested', async () => {
  await using fixture = new NetworkFixture('pwt-route0', '10.241.64.0/24');
  const commands = [
    ['link', 'add', 'name', 'pwt-route-x', 'type', 'veth', 'peer', 'name', 'pwt-route-y'],
    ['address', 'add', '10.241.64.129/25', 'dev', 'pwt-route-x'],
    ['link', 'set', 'pwt-route-x', 'up'],
  ];
  await assertRefused(
    fixture,
    commands,
    /pod subnet 10\.241\.64\.0\/24 collides with the host's route to 10\.241\.64\.128\/25: .* such as 10\.\d+\.0\.0\/24/,
  );
});

test('the bridge of another node is refused, and its pods are not touched', async () => {
  await using one = new NetworkFixture('pwt-taken0', '10.241.76.0/24');
  await using other = new NetworkFixture('pwt-taken0', '10.241.76.0/24');
  await (await one.open()).setUp(one.pod('one'), bounded());
  const links = one.podLinks();
  const network = await other.open();
  assert.deepEqual(await network.list(), []);
  const status = await network.status();
  assert.match(status.ready ? '' : status.message, /bridge pwt-taken0 is another node's/);
  await assert.rejects(network.setUp(other.pod('other'), bounded()), { code: 'failed_precondition' });
  await network.close({ removeHostState: true });
  assert.deepEqual(one.podLinks(), links);
  assert.match(run('nft', ['list', 'tables']), /podwright_pwt-taken0/);
});

test('a link of a different type with the name of the bridge is rejected', async () => {
  await using fixture = new NetworkFixture('pwt-kind0', '10.241.65.0/24');
  await assertRefused(
    fixture,
    [['link', 'add', 'name', 'pwt-kind0', 'type', 'veth', 'peer', 'name', 'pwt-kind1']],
    /pwt-kind0 exists and is not a bridge \(veth\)/,
  );
});

test('a foreign bridge with a different subnet is rejected', async () => {
  await using fixture = new NetworkFixture('pwt-owner0', '10.241.66.0/24');
  const commands = [
    ['link', 'add', 'name', 'pwt-owner0', 'type', 'bridge'],
    ['address', 'add', '10.241.67.1/24', 'dev', 'pwt-owner0'],
  ];
  await assertRefused(fixture, commands, /bridge pwt-owner0 was not created by this node and has 10\.241\.67\.1\/24/);
});

test('when the pod CIDR changes, the new subnet replaces the old one on the bridge', async () => {
  await using fixture = new NetworkFixture('pwt-cidr0', '10.241.68.0/24');
  const network = await fixture.open();
  await network.setUp(fixture.pod('cidr-a'), bounded());
  const ahead = fixture.pod('cidr-ahead');
  await network.prepare(ahead.sandboxId, ahead.netnsPath, bounded());
  await network.setPodCidr('10.241.69.0/24');
  assert.deepEqual((await network.setUp(fixture.pod('cidr-b'), bounded())).ips, ['10.241.69.2']);
  assert.deepEqual((await network.setUp(ahead, bounded())).ips, ['10.241.69.3']);
  assert.doesNotMatch(inside(ahead, 'ip', ['-br', 'address']), /10\.241\.68/);
  assert.match(run('ip', ['-br', 'address', 'show', fixture.bridge]), /10\.241\.69\.1\/24/);
  assert.doesNotMatch(run('ip', ['-br', 'address', 'show', fixture.bridge]), /10\.241\.68/);
});

test('pods of an earlier version with CNI plugins are torn down by those, and their addresses are not assigned before', async () => {
  await using fixture = new NetworkFixture('pwt-plug0', '10.241.70.0/24');
  const pod = fixture.pod('plugged');
  await fixture.setUpAsBefore(pod);
  const network = await fixture.open();
  assert.deepEqual(await network.list(), ['plugged']);
  assert.deepEqual((await network.setUp(fixture.pod('now'), bounded())).ips, ['10.241.70.3']);
  await network.tearDown(pod, bounded());
  assert.doesNotMatch(inside(pod, 'ip', ['-br', 'link']), /eth0/);
  assert.deepEqual(await network.list(), ['now']);
});

test('the host end of a link has no addresses, ignores router advertisements and has hairpin mode enabled', async () => {
  await using fixture = new NetworkFixture('pwt-host0', '10.241.71.0/24,fd00:241:71::/64');
  const network = await fixture.open();
  await network.setUp(fixture.pod('hosted'), bounded());
  const [, link = ''] = /(veth[0-9a-f]{11})@/.exec(fixture.podLinks()[0]!)!;
  assert.equal(run('ip', ['-o', 'address', 'show', link]), '');
  assert.match(run('ip', ['-d', 'link', 'show', link]), /state forwarding .* hairpin on/);
  for (const name of [fixture.bridge, link])
    assert.equal(readFileSync(`/proc/sys/net/ipv6/conf/${name}/accept_ra`, 'utf8'), '0\n', name);
  assert.match(run('ip', ['link', 'show', fixture.bridge]), /link\/ether 0a:58:0a:f1:47:01/);
});

test('a pod has its link-local address at once', async () => {
  await using fixture = new NetworkFixture('pwt-local0', '10.241.75.0/24');
  const network = await fixture.open();
  const pod = fixture.pod('local');
  await network.setUp(pod, bounded());
  const addresses = inside(pod, 'ip', ['-6', 'address', 'show', 'dev', 'eth0']);
  assert.match(addresses, /inet6 fe80::/);
  assert.doesNotMatch(addresses, /tentative/);
});

test('pod bandwidth can be limited', async () => {
  await using fixture = new NetworkFixture('pwt-slow0', '10.241.72.0/24');
  const network = await fixture.open();
  const pod = fixture.pod('slow', { bandwidth: { ingressRate: 1_000_000, egressRate: 2_000_000 } });
  const { ips } = await network.setUp(pod, bounded());
  const shaped = fixture.podLinks().map((line) => /\d+: ([^:@]+)/.exec(line)![1]!);
  const rates = shaped.map((link) => `${link.slice(0, 3)} ${run('tc', ['qdisc', 'show', 'dev', link])}`);
  assert.match(rates.join('\n'), /vet .*tbf.* rate 1Mbit/);
  assert.match(rates.join('\n'), /ifb .*tbf.* rate 2Mbit/);
  const load = join(fixture.directory, 'load');
  writeFileSync(load, Buffer.alloc(384 << 10));
  const other = fixture.pod('other');
  const { ips: theirs } = await network.setUp(other, bounded());
  for (const server of [pod, other]) await fixture.serve(server, 'tcp', 80, `cat ${load}`);
  for (const [client, address, atLeastMs] of [
    [pod, theirs[0]!, 1500],
    [other, ips[0]!, 750],
  ] as const) {
    const before = Date.now();
    fetchInside(client, address, 80);
    const tookMs = Date.now() - before;
    assert.ok(tookMs > atLeastMs, `384 KiB less the burst of 128 took ${client.sandboxId} ${tookMs} ms`);
  }
  await network.tearDown(pod, bounded());
  fixture.endServers();
  fixture.removeNamespace(pod.netnsPath);
  const gone = () => (shaped.some((link) => run('ip', ['-br', 'link']).includes(link)) ? undefined : true);
  await waitFor(gone, { intervalMs: 20, signal: bounded() });
});

type Pod = ReturnType<NetworkFixture['pod']>;
