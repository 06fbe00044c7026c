import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PortMapping } from '../../packages/runtime/src/network/network.ts';
import { bounded, fetchFromHost, fetchInside, inside, NetworkFixture, OutsideHost } from './network.fixture.ts';

export type NetworkUnderTest = {
  /** Prefix of the names of all tests of this network. */
  name: string;
  /** The second number in the network's subnets: 10.N.… and fd00:N:… */
  number: number;
  /** Prepares the fixture; `undo` removes the state that the network deliberately leaves behind. */
  prepare(fixture: NetworkFixture): void;
  undo(fixture: NetworkFixture): void;
};

const tcp = (hostPort: number): PortMapping => ({ protocol: 'tcp', containerPort: 80, hostPort, hostIp: '' });

/** The contract of `Network`, run from `tests/network/*.test.ts`. */
export function networkSuite(under: NetworkUnderTest): void {
  const n = under.number;

  /** Runs a test on a network with its own bridge and subnets. */
  const promise = (what: string, third: number, use: (fixture: NetworkFixture) => Promise<void>, dual = false) =>
    test(`${under.name}: ${what}`, async () => {
      const subnets = [`10.${n}.${third}.0/24`, ...(dual ? [`fd00:${n}:${third}::/64`] : [])];
      await using fixture = new NetworkFixture(`pwt-${n}-${third}`, subnets.join(','));
      try {
        under.prepare(fixture);
        await use(fixture);
      } finally {
        under.undo(fixture);
      }
    });

  promise('a pod gets an address and a default route, which are released at its removal', 1, async (fixture) => {
    const network = await fixture.open();
    const pod = fixture.pod('life');
    assert.deepEqual(await network.status(), { ready: true });
    const { ips } = await network.setUp(pod, bounded());
    assert.deepEqual(ips, [`10.${n}.1.2`]);
    assert.match(inside(pod, 'ip', ['-br', 'address']), new RegExp(`eth0.*10\\.${n}\\.1\\.2/24`));
    assert.match(inside(pod, 'ip', ['route']), new RegExp(`default via 10\\.${n}\\.1\\.1 dev eth0`));
    assert.deepEqual(await network.list(), ['life']);
    await network.tearDown(pod, bounded());
    assert.deepEqual(await network.list(), []);
    await network.tearDown(pod, bounded());
    fixture.removeNamespace(pod.netnsPath);
    await fixture.untilLinksAreGone();
  });

  promise('pods reach each other with their addresses, and outside hosts with that of the host', 2, async (fixture) => {
    using outside = new OutsideHost(fixture, `pwt-${n}-out`, `10.${n}.102`);
    const network = await fixture.open();
    const [client, server] = [fixture.pod('client'), fixture.pod('server')];
    const { ips: clientIps } = await network.setUp(client, bounded());
    const { ips: serverIps } = await network.setUp(server, bounded());
    await fixture.serve(server, 'tcp', 80);
    assert.equal(fetchInside(client, serverIps[0]!, 80), `server ${clientIps[0]}`);
    await fixture.serve(outside.pod, 'tcp', 80);
    assert.equal(fetchInside(client, outside.address, 80), `outside ${outside.hostAddress}`);
  });

  promise('twenty pods get twenty addresses in parallel, and release them in parallel', 3, async (fixture) => {
    const network = await fixture.open();
    const pods = Array.from({ length: 20 }, (_, index) => fixture.pod(`many-${index}`));
    const results = await Promise.all(pods.map((pod) => network.setUp(pod, bounded())));
    assert.equal(new Set(results.map(({ ips }) => ips[0])).size, 20);
    assert.equal((await network.list()).length, 20);
    await Promise.all(pods.map((pod) => network.tearDown(pod, bounded())));
    assert.deepEqual(await network.list(), []);
  });

  promise(
    'the address is released if the namespace was removed before, with or without its file',
    4,
    async (fixture) => {
      const network = await fixture.open();
      for (const keepFile of [false, true]) {
        const pod = fixture.pod(`removed-${keepFile}`);
        await network.setUp(pod, bounded());
        fixture.removeNamespace(pod.netnsPath, { keepFile });
        await network.tearDown(pod, bounded());
        assert.deepEqual(await network.list(), []);
      }
    },
  );

  promise('after a restart earlier pods are found and torn down', 5, async (fixture) => {
    const pod = fixture.pod('again');
    await (await fixture.open()).setUp(pod, bounded());
    const network = await fixture.open();
    assert.deepEqual(await network.list(), ['again']);
    await network.tearDown(pod, bounded());
    assert.deepEqual(await network.list(), []);
  });

  promise(
    'a host port leads to the pod, from localhost and from the pod itself, until its removal',
    6,
    async (fixture) => {
      using outside = new OutsideHost(fixture, `pwt-${n}-port`, `10.${n}.106`);
      const network = await fixture.open();
      const hostPort = 38_000 + n;
      const pod = fixture.pod('port', { portMappings: [tcp(hostPort)] });
      await network.setUp(pod, bounded());
      await fixture.serve(pod, 'tcp', 80);
      assert.match(await fetchFromHost('127.0.0.1', hostPort), /^port/);
      assert.equal(fetchInside(outside.pod, outside.hostAddress, hostPort), `port ${outside.address}`);
      assert.match(fetchInside(pod, outside.hostAddress, hostPort), /^port/);
      await network.tearDown(pod, bounded());
      await assert.rejects(fetchFromHost('127.0.0.1', hostPort), /ECONNREFUSED/);
    },
  );

  promise(
    'with two subnets a pod has an address of each family, in their order',
    7,
    async (fixture) => {
      const network = await fixture.open();
      const [client, server] = [fixture.pod('dual-client'), fixture.pod('dual-server')];
      await network.setUp(client, bounded());
      const { ips } = await network.setUp(server, bounded());
      assert.deepEqual(ips, [`10.${n}.7.3`, `fd00:${n}:7::3`]);
      await fixture.serve(server, 'tcp', 80);
      await fixture.serve(server, 'tcp6', 80);
      for (const address of ips) assert.match(fetchInside(client, address, 80), /^dual-server/);
    },
    true,
  );
}
