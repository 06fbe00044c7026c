/**
 * Run by service-rules.ts in a network namespace of its own: an in-memory API server with the objects of service-objects.ts, and a proxy
 * that follows it over HTTP, ours or upstream's kube-proxy (the path in the first argument). Sends `true` when it is ready, and then, for
 * each message, changes one EndpointSlice and sends the `ChangeTimes`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { runChecked } from '@podwright/host';
import { ENDPOINT_SLICES, NODES, SERVICES } from '@podwright/kube-client';
import { FakeKubeClient } from '@podwright/kube-client/testing';
import { NetlinkSockets, rulesetGeneration } from '@podwright/system';
import { DAEMON_FLAGS } from '../packages/cli/src/daemon/daemon-flags.ts';
import { serveLists, startKubeProxy } from '../tests/proxy/upstream.fixture.ts';
import {
  CLIENT_ADDRESS,
  clusterAddress,
  ENDPOINT_PORT,
  endpointAddresses,
  POD_CIDR,
  replacementAddress,
  SERVICE_COUNT,
  SERVICE_PORT,
  serviceOf,
  sliceOf,
} from './service-objects.ts';

/** Times from a change of an EndpointSlice, in milliseconds. */
export type ChangeTimes = { toKernelMs: number; toConnectionMs: number };

/** Interval between attempts to connect. */
const CONNECT_MS = 0.5;
const LIMIT_MS = 30_000;
const ADDRESSES = ['10.242.41.1', 'fd00:242:41::1'];
/** Makes all addresses of pods local, and gives the host addresses and default routes. */
const NETWORK = `ip link set lo up; ip link add out type veth peer name peer; ip link set out up; ip link set peer up
  ip address add ${ADDRESSES[0]}/24 dev out; ip address add ${ADDRESSES[1]}/64 dev out nodad
  ip route add default via 10.242.41.2; ip -6 route add default via fd00:242:41::2
  ip route add local ${POD_CIDR} dev lo; sysctl -qw net.ipv4.ip_forward=1`;

const [program] = process.argv.slice(2);
const client = new FakeKubeClient();
const netlink = new NetlinkSockets().open('netfilter');
const resources = [SERVICES, ENDPOINT_SLICES, NODES];
let counter = 0;

process.on('disconnect', () => process.exit());
await runChecked('sh', ['-ec', NETWORK]);
const podCidrs = [POD_CIDR, 'fd00:88::/64'];
const addresses = ADDRESSES.map((address) => ({ type: 'InternalIP', address }));
client.put(
  NODES,
  Object.assign({ metadata: { name: 'here' } }, { spec: { podCIDRs: podCidrs }, status: { addresses } }),
);
for (let index = 0; index < SERVICE_COUNT; index++) {
  client.put(SERVICES, serviceOf(index));
  client.put(ENDPOINT_SLICES, sliceOf(index));
}
if (program === undefined) await startOurs();
else await startKubeProxy(program, { client, resources, podCidrs });
await change(); // waits until the first rules are in effect
process.send!(true);
process.on('message', () => void change().then((times) => process.send!(times)));

async function startOurs(): Promise<void> {
  const url = await serveLists(client, resources);
  const proxy = fork(join(import.meta.dirname, 'service-proxy.ts'), [url], { execArgv: DAEMON_FLAGS });
  process.once('exit', () => proxy.kill('SIGKILL'));
  await once(proxy, 'message');
}

/** Replaces one of a Service's endpoints, and waits until a connection to the Service reaches the new one. */
async function change(): Promise<ChangeTimes> {
  const number = counter++;
  const index = (number * 7) % SERVICE_COUNT;
  const address = replacementAddress(number);
  const server = createServer((socket) => socket.resetAndDestroy());
  await once(server.listen(ENDPOINT_PORT, address), 'listening');
  const generation = await rulesetGeneration(netlink);
  const beginMs = performance.now();
  const endMs = beginMs + LIMIT_MS;
  const connected = untilConnected(server, { address: clusterAddress(index), endMs });
  client.put(ENDPOINT_SLICES, sliceOf(index, [endpointAddresses(index)[0]!, address]));
  const [toKernelMs, toConnectionMs] = await Promise.all([untilNewRules(generation, endMs), connected]);
  server.close();
  return { toKernelMs: toKernelMs - beginMs, toConnectionMs: toConnectionMs - beginMs };
}

/** Returns when the kernel's ruleset changed. */
async function untilNewRules(generation: number, endMs: number): Promise<number> {
  while ((await rulesetGeneration(netlink)) === generation)
    if (performance.now() > endMs) throw new Error('the rules in the kernel did not change');
  return performance.now();
}

/** Connects to an address again and again. Returns when a connection reached the server. */
async function untilConnected(server: Server, { address, endMs }: { address: string; endMs: number }): Promise<number> {
  let reachedMs: number | undefined;
  server.once('connection', () => {
    reachedMs = performance.now();
  });
  for (let nextMs = 0; reachedMs === undefined; ) {
    if (performance.now() > endMs) throw new Error(`no connection to ${address} reached its new endpoint`);
    if (performance.now() >= nextMs) {
      const socket = connect({ host: address, port: SERVICE_PORT, localAddress: CLIENT_ADDRESS });
      socket.on('error', () => undefined).on('connect', () => socket.resetAndDestroy());
      nextMs = performance.now() + CONNECT_MS;
    }
    await setImmediate();
  }
  return reachedMs;
}
