/** Runs a command in a container with containerd's shim for runc, as root: `node run-task.ts STATE ROOTFS COMMAND…` */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { makePrivateDirectory, silentLogger } from '@podwright/base';
import { packOptions, RuncOptionsSchema, Shims } from '@podwright/shim';

const [state = '', rootfs = '', ...args] = process.argv.slice(2);
const id = `example-${process.pid}`;
const signal = AbortSignal.timeout(60_000);

const shims = await Shims.open({ state, namespace: 'example', logger: silentLogger });
const exited = new Promise<number>((resolve) => {
  shims.events.subscribe((event) => {
    if (event.kind === 'exit' && event.taskId === id) resolve(event.exitCode);
  });
});

const bundle = shims.bundle(id);
makePrivateDirectory(bundle);
const spec = {
  ociVersion: '1.0.2',
  process: { user: { uid: 0, gid: 0 }, cwd: '/', env: ['PATH=/bin'], args },
  root: { path: rootfs },
  mounts: [{ destination: '/proc', type: 'proc', source: 'proc' }],
  linux: { cgroupsPath: `/${id}`, namespaces: [{ type: 'pid' }, { type: 'mount' }, { type: 'network' }] },
};
await writeFile(join(bundle, 'config.json'), JSON.stringify(spec));

const runc = toBinary(RuncOptionsSchema, create(RuncOptionsSchema, { root: join(state, 'runc') }));
const options = { typeUrl: RuncOptionsSchema.typeName, value: Buffer.from(runc).toString('base64') };
const program = { path: 'containerd-shim-runc-v2', options };

// The shim is a separate process: after a restart, `shims.load(bundle)` reconnects to it.
const shim = await shims.start({ id, bundle, program }, signal);
const { pid } = await shim.tasks.create({ id, bundle, options: packOptions(options) }, { signal });
await shim.tasks.start({ id });
console.log(`process ${pid} of the host has exited with code ${await exited}`);

await shim.tasks.delete({ id });
await shim.tasks.shutdown({ id }).catch(() => undefined); // the shim may exit before it answers
await shim.closed;
await shims.removeSocket(bundle);
shims.forget(bundle);
await rm(bundle, { recursive: true });
await shims.close();
