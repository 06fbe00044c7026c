/**
 * Child process of the import tests: `node import-child.fixture.ts DIRECTORY STAGE` imports the applied objects of a manifest directory
 * into a store, and kills itself at the given stage. If no stage is given, it prints the stored objects.
 */
import { join } from 'node:path';
import { openSqliteStore, STORE_INDEXES } from '@podwright/api-machinery';
import { Schema } from '@podwright/kube-schema';
import { AppliedImport } from '@podwright/node-api';
import { importObjects } from '../../packages/api-server/src/import-objects.ts';

const [directory = '', stage] = process.argv.slice(2);
const failpoint = (at: string) => {
  if (at === stage) process.kill(process.pid, 'SIGKILL');
};
const source = new AppliedImport({
  manifestDir: join(directory, 'manifests'),
  kubeletRoot: join(directory, 'kubelet'),
  nodeName: 'solo',
  asideDir: join(directory, 'aside'),
  onAside: () => undefined,
  begin: async () => undefined,
  failpoint,
});
const store = openSqliteStore(join(directory, 'objects.db'), { indexes: STORE_INDEXES, failpoint });
const schema = await Schema.load();
await importObjects(source, { schema, store, now: Date.now, failpoint });
const resources = ['namespaces', 'pods', 'configmaps', 'secrets', 'persistentvolumeclaims', 'persistentvolumes'];
const objects = resources.flatMap((resource) => store.list(resource).objects.map((object) => object.decode()));
process.stdout.write(JSON.stringify(objects));
