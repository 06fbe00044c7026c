import { createInterface } from 'node:readline';
import { createLogger } from '@podwright/base';
import { NODES, SERVICES } from '@podwright/kube-client';
import { FakeKubeClient } from '@podwright/kube-client/testing';
import { startProxy } from '@podwright/proxy';
import { ENDPOINT_SLICES } from '../../packages/proxy/src/services/objects.ts';
import type { ProxyCommand, ProxySettings } from './proxy.fixture.ts';

// Run by a `ProxyFixture` in the network namespace of the simulated host: a proxy of an API server in memory. Reads one command a line, and
// answers each with a line.
const settings: ProxySettings = JSON.parse(process.argv[2]!);
const resources = { services: SERVICES, slices: ENDPOINT_SLICES, nodes: NODES };
const client = new FakeKubeClient();
const logger = createLogger({ level: process.env.PODWRIGHT_TEST_LOG ?? 'warn' });
for (const { resource, object } of settings.objects) client.put(resources[resource], object);
const proxy = startProxy({ ...settings.options, client, nodeName: 'here', logger });
await proxy.synced;
console.log('synced');

for await (const line of createInterface({ input: process.stdin })) {
  const command: ProxyCommand = JSON.parse(line);
  if (command.do === 'put') client.put(resources[command.resource], command.object);
  if (command.do === 'remove') client.remove(resources[command.resource], command.key);
  if (command.do === 'stop') await proxy.stop({ removeRules: command.removeRules });
  console.log(proxy.problem() ?? 'no problem');
  if (command.do === 'stop') break;
}
process.exit();
