import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { test } from 'node:test';
import type { PortMapping } from '../../packages/runtime/src/network/network.ts';
import { bounded, fetchFromHost, fetchInside, NetworkFixture, OutsideHost, run } from './network.fixture.ts';

const tcp = (hostPort: number, hostIp = ''): PortMapping => ({ protocol: 'tcp', containerPort: 80, hostPort, hostIp });

test('a mapped port leads to the pod from localhost, from a host address, from outside and from the pod itself', async () => {
  await using fixture = new NetworkFixture('pwt-port0', '10.241.21.0/24');
  using outside = new OutsideHost(fixture, 'pwt-port-out', '10.242.21');
  const network = await fixture.open();
  const pod = fixture.pod('port-a', { portMappings: [tcp(38121)] });
  await network.setUp(pod, bounded());
  await fixture.serve(pod, 'tcp', 80);
  assert.match(await fetchFromHost('127.0.0.1', 38121), /^port-a/);
  assert.match(await fetchFromHost(outside.hostAddress, 38121), /^port-a/);
  assert.equal(fetchInside(outside.pod, outside.hostAddress, 38121), `port-a ${outside.address}`);
  assert.match(fetchInside(pod, outside.hostAddress, 38121), /^port-a/);

  await network.tearDown(pod, bounded());
  await assert.rejects(fetchFromHost('127.0.0.1', 38121), /ECONNREFUSED/);
  await network.close({ removeHostState: true });
  assert.deepEqual(fixture.leftovers(), []);
});

test('a port mapped on one host address is not mapped on the others', async () => {
  await using fixture = new NetworkFixture('pwt-hostip0', '10.241.22.0/24');
  using outside = new OutsideHost(fixture, 'pwt-hostip-out', '10.242.22');
  const network = await fixture.open();
  const pod = fixture.pod('hostip', { portMappings: [tcp(38122, '127.0.0.1')] });
  await network.setUp(pod, bounded());
  await fixture.serve(pod, 'tcp', 80);
  assert.match(await fetchFromHost('127.0.0.1', 38122), /^hostip/);
  await assert.rejects(fetchFromHost(outside.hostAddress, 38122), /ECONNREFUSED/);
});

test('udp and sctp ports are mapped too', async () => {
  await using fixture = new NetworkFixture('pwt-udp0', '10.241.23.0/24');
  const network = await fixture.open();
  const portMappings: PortMapping[] = [
    { protocol: 'udp', containerPort: 53, hostPort: 38123, hostIp: '' },
    { protocol: 'sctp', containerPort: 90, hostPort: 38124, hostIp: '' },
  ];
  const pod = fixture.pod('udp', { portMappings });
  await network.setUp(pod, bounded());
  await fixture.serve(pod, 'udp', 53);
  assert.match(await askByUdp(38123), /^udp/);
  assert.match(run('nft', ['list', 'table', 'inet', 'podwright_pwt-udp0']), /sctp .*38124[\s\S]*10\.241\.23\.2/);
});

test('if two pods have a host port each, one keeps its port when the other is torn down', async () => {
  await using fixture = new NetworkFixture('pwt-pair0', '10.241.24.0/24');
  const network = await fixture.open();
  const first = fixture.pod('pair-a', { portMappings: [tcp(38125)] });
  const second = fixture.pod('pair-b', { portMappings: [tcp(38126)] });
  await Promise.all([first, second].map((pod) => network.setUp(pod, bounded())));
  await fixture.serve(second, 'tcp', 80);
  await network.tearDown(first, bounded());
  assert.match(await fetchFromHost('127.0.0.1', 38126), /^pair-b/);
});

/** Returns the response to a UDP packet sent to a port on localhost. Packets may be lost, so it is sent repeatedly. */
async function askByUdp(port: number): Promise<string> {
  const socket = createSocket('udp4');
  const timer = setInterval(() => socket.send('?\n', port, '127.0.0.1'), 200);
  try {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    bounded().addEventListener('abort', () => reject(new Error('no answer')));
    socket.on('message', (message) => resolve(message.toString('utf8')));
    socket.on('error', reject);
    return await promise;
  } finally {
    clearInterval(timer);
    socket.close();
  }
}
