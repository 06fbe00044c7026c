import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bounded, fetchInside, inside, NetworkFixture, OutsideHost, run } from './network.fixture.ts';

test('a pod gets an address of the subnet and a default route, and nothing is left when it and the network go', async () => {
  await using fixture = new NetworkFixture('pwt-life0', '10.241.1.0/24');
  const network = await fixture.open();
  const pod = fixture.pod('life-a');
  assert.deepEqual(await network.status(), { ready: true });
  const { ips } = await network.setUp(pod, bounded());
  assert.deepEqual(ips, ['10.241.1.2']);
  assert.match(inside(pod, 'ip', ['-br', 'address']), /eth0.*10\.241\.1\.2\/24/);
  assert.match(inside(pod, 'ip', ['route']), /default via 10\.241\.1\.1 dev eth0/);
  assert.deepEqual(await network.list(), ['life-a']);

  await network.tearDown(pod, bounded());
  assert.deepEqual(await network.list(), []);
  await network.tearDown(pod, bounded());
  fixture.removeNamespace(pod.netnsPath);
  await fixture.untilLinksAreGone();
  await network.close({ removeHostState: true });
  assert.deepEqual(fixture.leftovers(), []);
});

test('pods reach each other by their own addresses, and the outside by the address of the host', async () => {
  await using fixture = new NetworkFixture('pwt-reach0', '10.241.2.0/24');
  using outside = new OutsideHost(fixture, 'pwt-reach-out', '10.242.2');
  const network = await fixture.open();
  const [client, server] = [fixture.pod('reach-client'), fixture.pod('reach-server')];
  const { ips: clientIps } = await network.setUp(client, bounded());
  const { ips: serverIps } = await network.setUp(server, bounded());
  await fixture.serve(server, 'tcp', 80);
  assert.equal(fetchInside(client, serverIps[0]!, 80), `reach-server ${clientIps[0]}`);
  await fixture.serve(outside.pod, 'tcp', 80);
  assert.equal(fetchInside(client, outside.address, 80), `outside ${outside.hostAddress}`);
});

test('twenty pods at once get twenty addresses, and give them back at once', async () => {
  await using fixture = new NetworkFixture('pwt-many0', '10.241.3.0/24');
  const network = await fixture.open();
  const pods = Array.from({ length: 20 }, (_, index) => fixture.pod(`many-${index}`));
  const results = await Promise.all(pods.map((pod) => network.setUp(pod, bounded())));
  assert.equal(new Set(results.map(({ ips }) => ips[0])).size, 20);
  assert.equal((await network.list()).length, 20);
  await Promise.all(pods.map((pod) => network.tearDown(pod, bounded())));
  assert.deepEqual(await network.list(), []);
});

test('two networks side by side do not touch each other', async () => {
  await using first = new NetworkFixture('pwt-side0', '10.241.4.0/24');
  await using second = new NetworkFixture('pwt-side1', '10.241.5.0/24');
  const [one, other] = [await first.open(), await second.open()];
  const [pod, neighbour] = [first.pod('same-id'), second.pod('same-id')];
  await one.setUp(pod, bounded());
  const { ips } = await other.setUp(neighbour, bounded());
  await one.tearDown(pod, bounded());
  await one.close({ removeHostState: true });
  assert.deepEqual(first.leftovers(), []);
  assert.deepEqual(await other.list(), ['same-id']);
  assert.match(inside(neighbour, 'ip', ['-br', 'address']), new RegExp(`eth0.*${ips[0]}`));
  assert.match(run('nft', ['list', 'ruleset']), /10\.241\.5\.0\/24.*masquerade/);
});

test('the address comes back when the namespace has gone first, and when only its empty file is left', async () => {
  await using fixture = new NetworkFixture('pwt-gone0', '10.241.6.0/24');
  const network = await fixture.open();
  for (const keepFile of [false, true]) {
    const pod = fixture.pod(`gone-${keepFile}`);
    await network.setUp(pod, bounded());
    fixture.removeNamespace(pod.netnsPath, { keepFile });
    await network.tearDown(pod, bounded());
    assert.deepEqual(await network.list(), []);
  }
});

test('after a restart the runtime finds what was set up before, and tears it down', async () => {
  await using fixture = new NetworkFixture('pwt-again0', '10.241.7.0/24');
  const pod = fixture.pod('again');
  await (await fixture.open()).setUp(pod, bounded());
  const network = await fixture.open();
  assert.deepEqual(await network.list(), ['again']);
  await network.tearDown(pod, bounded());
  await network.close({ removeHostState: true });
  assert.deepEqual(fixture.leftovers(), []);
});

test('a pod whose record is lost is found by its address and torn down', async () => {
  await using fixture = new NetworkFixture('pwt-lost0', '10.241.8.0/24');
  const network = await fixture.open();
  const pod = fixture.pod('lost', {
    portMappings: [{ protocol: 'tcp', containerPort: 80, hostPort: 38108, hostIp: '' }],
  });
  await network.setUp(pod, bounded());
  rmSync(join(fixture.directory, 'cache'), { recursive: true });
  assert.deepEqual(await network.list(), ['lost']);
  await network.tearDown({ ...pod, portMappings: [] }, bounded());
  await network.close({ removeHostState: true });
  assert.deepEqual(fixture.leftovers(), []);
});

test('after a reboot nothing of a pod is left, and its address is given again', async () => {
  await using fixture = new NetworkFixture('pwt-boot0', '10.241.9.0/24');
  const pod = fixture.pod('boot');
  await (await fixture.open()).setUp(pod, bounded());
  fixture.removeNamespace(pod.netnsPath);
  run('ip', ['link', 'delete', fixture.bridge]);
  run('nft', ['delete', 'table', 'inet', `podwright_${fixture.bridge}`]);
  rmSync(join(fixture.directory, 'state'), { recursive: true });
  const network = await fixture.open();
  assert.deepEqual(await network.list(), []);
  await network.tearDown(pod, bounded());
  assert.deepEqual((await network.setUp(fixture.pod('boot-next'), bounded())).ips, ['10.241.9.2']);
});

test('the rules are made again after the bridge has vanished', async () => {
  await using fixture = new NetworkFixture('pwt-back0', '10.241.10.0/24');
  const network = await fixture.open();
  await network.setUp(fixture.pod('back-a'), bounded());
  await network.setUp(fixture.pod('back-b'), bounded());
  run('ip', ['link', 'delete', fixture.bridge]);
  run('nft', ['delete', 'table', 'inet', `podwright_${fixture.bridge}`]);
  await network.setUp(fixture.pod('back-c'), bounded());
  assert.match(run('nft', ['list', 'ruleset']), /10\.241\.10\.0\/24.*masquerade/);
});

test('a bridge that somebody else made is used and not removed', async () => {
  await using fixture = new NetworkFixture('pwt-theirs0', '10.241.11.0/24');
  run('ip', ['link', 'add', fixture.bridge, 'type', 'bridge']);
  try {
    const network = await fixture.open();
    const pod = fixture.pod('theirs');
    await network.setUp(pod, bounded());
    await network.tearDown(pod, bounded());
    await network.close({ removeHostState: true });
    assert.match(run('ip', ['-br', 'link', 'show', fixture.bridge]), /pwt-theirs0/);
  } finally {
    run('ip', ['link', 'delete', fixture.bridge]);
  }
});

test('with a second subnet a pod has an address of each family, the first one first', async () => {
  await using fixture = new NetworkFixture('pwt-dual0', '10.241.12.0/24,fd00:241:12::/64');
  const network = await fixture.open();
  const [client, server] = [fixture.pod('dual-client'), fixture.pod('dual-server')];
  await network.setUp(client, bounded());
  const { ips } = await network.setUp(server, bounded());
  assert.deepEqual(ips, ['10.241.12.3', 'fd00:241:12::3']);
  await fixture.serve(server, 'tcp', 80);
  assert.match(fetchInside(client, ips[0]!, 80), /^dual-server/);
});

test('pods can be limited to a bandwidth', async () => {
  await using fixture = new NetworkFixture('pwt-slow0', '10.241.13.0/24');
  const network = await fixture.open();
  const pod = fixture.pod('slow', { bandwidth: { ingressRate: 1_000_000, egressRate: 2_000_000 } });
  await network.setUp(pod, bounded());
  assert.match(
    run('tc', ['qdisc', 'show']),
    /tbf.*rate 1Mbit[\s\S]*tbf.*rate 2Mbit|tbf.*rate 2Mbit[\s\S]*tbf.*rate 1Mbit/,
  );
  await network.tearDown(pod, bounded());
  fixture.removeNamespace(pod.netnsPath);
  await fixture.untilLinksAreGone();
  assert.doesNotMatch(run('tc', ['qdisc', 'show']), /rate [12]Mbit/);
});
