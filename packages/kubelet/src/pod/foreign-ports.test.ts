import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { PodEvents } from '@podwright/kube-api';
import { foreignPorts, warnOfForeignPorts } from './foreign-ports.ts';

function podWith(hostPort: number, protocol: 'TCP' | 'UDP' = 'TCP', hostIP = ''): Pod {
  const containers = [{ name: 'a', image: 'i', ports: [{ containerPort: 80, hostPort, protocol, hostIP }] }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: 'u1' },
    spec: { containers },
  };
}

async function listen(context: TestContext, address: string): Promise<number> {
  const server = createServer().listen(0, address);
  context.after(() => server.close());
  await once(server, 'listening');
  return (server.address() as { port: number }).port;
}

const own = `(process ${process.pid}), which may receive the pod's traffic`;
const messages = async (pod: Pod, uids: string[] = []) => (await foreignPorts(pod, uids)).map(({ message }) => message);

test('a host process that listens on a port of the pod is named, for every address family and protocol', async (context) => {
  for (const address of ['127.0.0.1', '::1', '0.0.0.0', '::']) {
    const port = await listen(context, address);
    const shown = { '127.0.0.1': '127.0.0.1:', '::1': '[::1]:' }[address] ?? '';
    const [message = ''] = await messages(podWith(port));
    assert.ok(message.startsWith(`port ${shown}${port}/TCP of the host is taken by `), `${address}: ${message}`);
    assert.ok(message.endsWith(own), message);
    assert.deepEqual(await messages(podWith(port, 'TCP', '::')), [message]);
    assert.deepEqual(await messages(podWith(port, 'UDP')), []);
  }
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  context.after(() => socket.close());
  await once(socket, 'listening');
  const { port } = socket.address();
  const [found] = await foreignPorts(podWith(port, 'UDP'), []);
  assert.deepEqual(found?.path, ['spec', 'containers', 0, 'ports', 0, 'hostPort']);
  assert.match(found!.message, /^port 127\.0\.0\.1:\d+\/UDP of the host is taken by /);
});

test('listeners on a different host address and the pod’s own listeners do not conflict', async (context) => {
  const port = await listen(context, '127.0.0.1');
  assert.deepEqual(await messages(podWith(port, 'TCP', '127.0.0.2')), []);
  const cgroup = readFileSync('/proc/self/cgroup', 'utf8').split('\n')[0]!.replaceAll('_', '-');
  assert.deepEqual(await messages(podWith(port), [cgroup]), []);
});

test('a pod that starts with a port in use gets an event', async (context) => {
  const events = new PodEvents('here');
  await warnOfForeignPorts(podWith(await listen(context, '127.0.0.1')), events);
  assert.deepEqual(
    events.list().map(({ type, reason, message }) => [type, reason, message.endsWith(own)]),
    [['Warning', 'HostPortTaken', true]],
  );
});
