import { homedir } from 'node:os';
import type { Pod } from '@podwright/kube-api';
import { createKubeClient, Informers, PODS, readKubeconfig } from '@podwright/kube-client';

const [path = `${homedir()}/.kube/config`, namespace = 'default'] = process.argv.slice(2);
const client = createKubeClient(await readKubeconfig(path));

const { items } = await client.list<Pod>(PODS, { namespace });
for (const { metadata, status } of items) console.log(`${metadata.name}: ${status?.phase}`);

// a cache kept up to date by a watch, which reconnects when the connection is lost and relists when the server demands it
const pods = new Informers(client).start<Pod>({
  resource: PODS,
  namespace,
  onChange: ({ type, object }) => console.log(`${type} ${object.metadata.name}`),
});
await pods.synced;
console.log(`${pods.list().length} pods in the cache`);
pods.stop();
client.close();
