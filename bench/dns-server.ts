/**
 * Run by dns-answers.ts: our DNS server in a process of its own, with the objects of service-objects.ts in an in-memory API
 * server. Every other Service is headless. Sends its port.
 */
import { silentLogger } from '@podwright/base';
import { startDns } from '@podwright/dns';
import { ENDPOINT_SLICES, NAMESPACES, SERVICES } from '@podwright/kube-client';
import { FakeKubeClient } from '@podwright/kube-client/testing';
import { NAMESPACE, SERVICE_COUNT, serviceOf, sliceOf } from './service-objects.ts';

const client = new FakeKubeClient();
client.put(NAMESPACES, { metadata: { name: NAMESPACE } });
for (let index = 0; index < SERVICE_COUNT; index++) {
  client.put(SERVICES, serviceOf(index, { isHeadless: index % 2 === 1 }));
  client.put(ENDPOINT_SLICES, sliceOf(index));
}
const server = await startDns({
  ...{ client, address: '127.0.0.1', port: 0, domain: 'cluster.local', upstream: '/dev/null', clients: [] },
  ...{ logger: silentLogger, signal: new AbortController().signal },
});
await server.synced;
process.send!(server.port);
process.on('disconnect', () => process.exit());
