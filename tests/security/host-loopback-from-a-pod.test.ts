/**
 * A pod sends frames with loopback destination addresses to the host (CVE-2020-8558), which only takes CAP_NET_RAW. In these tests, the
 * pod's network namespace has a route for loopback addresses instead, so that ordinary sockets send the same frames and entire connections
 * can be tried.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { waitFor } from '@podwright/base';
import { Protocol } from '@podwright/cri';
import { AttackedRuntime } from './attacked-runtime.fixture.ts';

const attacked = new AttackedRuntime();
const { bridge } = attacked.runtime.place.scope;
const HOST_PORT = 38127;
const servers: (Server | Socket)[] = [];
let attacker = 0;

before(async () => {
  await attacked.start();
  const portMappings = [{ protocol: Protocol.TCP, containerPort: 80, hostPort: HOST_PORT }];
  const published = await attacked.pod('published', { portMappings });
  await attacked.begin(published, { script: 'while :; do echo from the pod | nc -l -p 80; done' });
  const containerId = await attacked.begin(await attacked.pod('attacker'), { script: 'exec sleep 1000' });
  attacker = await attacked.pidOf(containerId);
  await inPod('ip', 'address', 'del', '127.0.0.1/8', 'dev', 'lo');
  await inPod('ip', 'route', 'add', '127.0.0.1/32', 'via', gateway(), 'dev', 'eth0');
  await inPod('sh', '-c', 'echo 1 > /proc/sys/net/ipv4/conf/eth0/route_localnet');
});
after(async () => {
  for (const server of servers) server.close();
  await attacked.end();
});

/** Runs a program in the pod's network namespace. Must be asynchronous, because the servers are in this process. */
async function inPod(...command: string[]): Promise<string> {
  return (await promisify(execFile)('nsenter', [`--net=/proc/${attacker}/ns/net`, ...command])).stdout;
}

/** Returns the bridge's address in the pod subnet. */
const gateway = () => attacked.runtime.place.options.network.subnet.replace(/0\/24$/, '1');

async function udpServer(
  address: string,
  family: 'udp4' | 'udp6' = 'udp4',
): Promise<{ port: number; heard: string[] }> {
  const socket = createSocket(family);
  servers.push(socket);
  const heard: string[] = [];
  socket.on('message', (message) => heard.push(message.toString()));
  await new Promise<void>((resolve) => socket.bind(0, address, resolve));
  return { port: socket.address().port, heard };
}

async function tcpServer(address: string): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => undefined).end('secret');
  });
  servers.push(server);
  server.listen(0, address);
  await once(server, 'listening');
  return { port: (server.address() as { port: number }).port, connections: () => connections };
}

/** Returns a server's response to a TCP client in the attacking pod; '' if the server is unreachable. */
function fetchInPod(address: string, port: number): Promise<string> {
  const said = inPod('socat', '-T3', '-u', `TCP:${address}:${port},connect-timeout=2`, '-');
  return said.catch(() => '');
}

test('once a port is published the bridge accepts packets to loopback addresses, making the attack possible', () => {
  assert.equal(readFileSync(`/proc/sys/net/ipv4/conf/${bridge}/route_localnet`, 'utf8'), '1\n');
});

test('datagrams to 127.0.0.1 reach no host service, but those to the host’s subnet address do', async () => {
  const [loopback, subnet] = [await udpServer('127.0.0.1'), await udpServer(gateway())];
  const send = (address: string, port: number) =>
    inPod('sh', '-c', `echo hello | socat -u - UDP-SENDTO:${address}:${port}`);
  const heard = async () => {
    await send('127.0.0.1', loopback.port);
    await send(gateway(), subnet.port);
    return subnet.heard.length >= 3 || undefined;
  };
  await waitFor(heard, { intervalMs: 50, signal: AbortSignal.timeout(20_000) });
  assert.deepEqual(loopback.heard, []);
});

test('datagrams with a loopback source address reach no host service', async () => {
  const subnet = await udpServer(gateway());
  await inPod('ip', 'address', 'add', '127.0.0.2/32', 'dev', 'lo');
  const target = `UDP-SENDTO:${gateway()}:${subnet.port}`;
  const heard = async () => {
    await inPod('sh', '-c', `echo trust me | socat -u - ${target},bind=127.0.0.2; echo hello | socat -u - ${target}`);
    return subnet.heard.filter((message) => message === 'hello\n').length >= 3 || undefined;
  };
  await waitFor(heard, { intervalMs: 50, signal: AbortSignal.timeout(20_000) });
  assert.deepEqual(new Set(subnet.heard), new Set(['hello\n']));
});

test('neither a TCP service on 127.0.0.1 nor the streaming server is reachable', async () => {
  const loopback = await tcpServer('127.0.0.1');
  const subnet = await tcpServer(gateway());
  const { items } = await attacked.runtime.cri.runtime.listPodSandbox({});
  const { url } = await attacked.runtime.cri.runtime.portForward({ podSandboxId: items[0]!.id, port: [1] });
  assert.equal(await fetchInPod(gateway(), subnet.port), 'secret');
  assert.equal(await fetchInPod('127.0.0.1', loopback.port), '');
  assert.equal(loopback.connections(), 0);
  const streaming = new URL(url);
  assert.equal(streaming.hostname, '127.0.0.1');
  const opened = `socat -u /dev/null TCP:127.0.0.1:${streaming.port},connect-timeout=2 && echo opened || echo refused`;
  assert.equal(await inPod('sh', '-c', opened), 'refused\n');
});

test('the host itself reaches the pod through localhost and the published port', async () => {
  const socket = connect(HOST_PORT, '127.0.0.1');
  const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(10_000) })) as [Buffer];
  socket.destroy();
  assert.equal(String(answer), 'from the pod\n');
});

test('datagrams to ::1 reach no host service', async () => {
  const loopback = await udpServer('::1', 'udp6');
  const link = readFileSync(`/sys/class/net/${bridge}/address`, 'utf8').trim();
  await inPod('ip', '-6', 'address', 'del', '::1/128', 'dev', 'lo');
  await inPod('ip', '-6', 'address', 'add', 'fd00:1::2/64', 'dev', 'eth0', 'nodad');
  await inPod('ip', '-6', 'neighbour', 'replace', 'fd00:1::1', 'lladdr', link, 'dev', 'eth0');
  await inPod('ip', '-6', 'route', 'add', '::1/128', 'via', 'fd00:1::1', 'dev', 'eth0');
  const received = () => Number(readFileSync(`/sys/class/net/${bridge}/statistics/rx_packets`, 'utf8'));
  const before = received();
  for (let count = 0; count < 10; count++)
    await inPod('sh', '-c', `echo hello | socat -u - UDP6-SENDTO:[::1]:${loopback.port}`);
  await waitFor(async () => received() >= before + 10 || undefined, {
    intervalMs: 20,
    signal: AbortSignal.timeout(10_000),
  });
  assert.deepEqual(loopback.heard, []);
});
