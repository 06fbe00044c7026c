import { createInterface } from 'node:readline';
import { createLogger } from '@podwright/base';
import { ENDPOINT_SLICES, NAMESPACES, NODES, PODS, SERVICES } from '@podwright/kube-client';
import { FakeKubeClient } from '@podwright/kube-client/testing';
import { startNetworkPolicies, startProxy } from '@podwright/proxy';
import { NETWORK_POLICIES } from '../../packages/proxy/src/policies/objects.ts';
import { POD_CIDRS, type ProxyCommand, type ProxySettings } from './proxy.fixture.ts';
import { startKubeProxy } from './upstream.fixture.ts';

// Run by `ProxyFixture` in the network namespace of the simulated host: a proxy on an in-memory API server. Reads one command per line, and
// responds to each with a line.
const settings: ProxySettings = JSON.parse(process.argv[2]!);
const resources = {
  services: SERVICES,
  slices: ENDPOINT_SLICES,
  nodes: NODES,
  pods: PODS,
  namespaces: NAMESPACES,
  policies: NETWORK_POLICIES,
};
const client = new FakeKubeClient();
const logger = createLogger({ level: process.env.PODWRIGHT_TEST_LOG ?? 'warn' });
for (const { resource, object } of settings.objects) client.put(resources[resource], object);
const { bridge, ...options } = settings.options;
const common = { client, nodeName: 'here', logger, checkIntervalMs: 100 };
const upstream = process.env.PODWRIGHT_KUBE_PROXY;
const running = upstream === undefined ? [startProxy({ ...common, ...options })] : [];
if (upstream !== undefined)
  await startKubeProxy(upstream, { client, resources: Object.values(resources), podCidrs: POD_CIDRS });
if (bridge !== undefined) running.push(startNetworkPolicies({ ...common, bridge }));
await Promise.all(running.map(({ synced }) => synced));
console.log('synced');

for await (const line of createInterface({ input: process.stdin })) {
  const command: ProxyCommand = JSON.parse(line);
  if (command.do === 'put') client.put(resources[command.resource], command.object);
  if (command.do === 'remove') client.remove(resources[command.resource], command.key);
  if (command.do === 'stop') await Promise.all(running.map((part) => part.stop({ removeRules: command.removeRules })));
  console.log(running.flatMap((part) => part.problem() ?? []).join() || 'no problem');
  if (command.do === 'stop') break;
}
process.exit();
