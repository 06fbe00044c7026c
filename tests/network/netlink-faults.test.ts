/** Netlink fails, or its response is lost, at each request of a pod's setup: the setup succeeds or leaves nothing behind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import { NetlinkSockets } from '@podwright/system';
import { bounded, fetchInside, inside, NetworkFixture, run } from './network.fixture.ts';

type Fault = { at: number; kind: 'lost answers' | 'refused' };

/** Netlink sockets on which the nth request fails, or all requests of a certain type. */
class FaultySockets extends NetlinkSockets {
  fault: Fault | undefined;
  refused: string | undefined;
  requests = 0;

  override open(...args: Parameters<NetlinkSockets['open']>) {
    const socket = super.open(...args);
    if (args[0] !== 'route') return socket;
    const request = socket.request.bind(socket);
    socket.request = async (requests) => {
      this.requests += 1;
      const kind = this.requests === this.fault?.at ? this.fault.kind : undefined;
      if (kind === 'refused' || requests.some(({ what }) => what === this.refused))
        throw systemError('EPERM', 'permission_denied');
      const answers = await request(requests);
      if (kind === 'lost answers') throw systemError('ENOBUFS', 'resource_exhausted');
      return answers;
    };
    return socket;
  }
}

function systemError(name: string, code: 'permission_denied' | 'resource_exhausted'): PodwrightError {
  return new PodwrightError(code, name, { cause: Object.assign(new Error(name), { code: name }) });
}

/** Sets up a pod while one request fails; returns the number of requests made. */
async function setUpWith(fault: Fault | undefined, use: (error: unknown, fixture: NetworkFixture) => Promise<void>) {
  await using fixture = new NetworkFixture('pwt-fault0', '10.241.81.0/24,fd00:241:81::/64');
  const sockets = new FaultySockets();
  const network = await fixture.open(sockets);
  sockets.requests = 0;
  sockets.fault = fault;
  const pod = fixture.pod('fault', { bandwidth: { ingressRate: 1e9, egressRate: 1e9 } });
  const error = await network.setUp(pod, bounded()).then(
    () => undefined,
    (reason) => reason,
  );
  const { requests } = sockets;
  sockets.fault = undefined;
  if (error === undefined) {
    assert.match(inside(pod, 'ip', ['route']), /default via 10\.241\.81\.1/);
    const server = fixture.pod('fault-server');
    const { ips } = await network.setUp(server, bounded());
    await fixture.serve(server, 'tcp', 80);
    assert.match(fetchInside(pod, ips[0]!, 80), /^fault-server 10\.241\.81\.2/);
  } else {
    assert.deepEqual([await network.list(), fixture.podLinks()], [[], []]);
    assert.doesNotMatch(inside(pod, 'ip', ['-br', 'link']), /eth0/);
  }
  await use(error, fixture);
  return requests;
}

test('the setup of a pod succeeds if any response is lost, and leaves nothing behind if any request fails', async () => {
  const requests = await setUpWith(undefined, async (error) => assert.equal(error, undefined));
  assert.ok(requests >= 8, `${requests} requests`);
  for (let at = 1; at <= requests; at++) {
    await setUpWith({ at, kind: 'lost answers' }, async (error) => assert.equal(error, undefined, `request ${at}`));
    await setUpWith({ at, kind: 'refused' }, async (error) =>
      assert.match(String(error), /EPERM|undefined/, `request ${at}`),
    );
  }
});

test('the pods of a re-created bridge are reconnected, even if the first search for their links failed', async () => {
  await using fixture = new NetworkFixture('pwt-fault1', '10.241.82.0/24');
  const sockets = new FaultySockets();
  const network = await fixture.open(sockets);
  await network.setUp(fixture.pod('before'), bounded());
  run('ip', ['link', 'delete', fixture.bridge]);
  sockets.refused = 'list links';
  await assert.rejects(network.setUp(fixture.pod('failed'), bounded()), /EPERM/);
  sockets.refused = undefined;
  await network.setUp(fixture.pod('after'), bounded());
  const connected = fixture.podLinks().filter((line) => line.includes(`master ${fixture.bridge} `));
  assert.equal(connected.length, 2);
});
