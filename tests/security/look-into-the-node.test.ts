/** A local user tries to read, write, execute or connect to every path under a busy node's root, state and log directories. */
import assert from 'node:assert/strict';
import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';
import { opportunitiesOfNobody } from './as-nobody.fixture.ts';

const VOLUMES = `  volumes:
  - name: disk
    emptyDir: {}
  - name: memory
    emptyDir: {medium: Memory}
  - name: secret
    secret: {secretName: password}
  - name: all
    projected: {sources: [{secret: {name: password}}, {downwardAPI: {items: [{path: name, fieldRef: {fieldPath: metadata.name}}]}}]}
`;
const MOUNTS = `    env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: password, key: password}}}]
    volumeMounts:
    - {name: disk, mountPath: /disk}
    - {name: disk, mountPath: /part, subPath: part}
    - {name: memory, mountPath: /memory}
    - {name: secret, mountPath: /secret}
    - {name: all, mountPath: /all}
`;
const SECRET = `apiVersion: v1
kind: Secret
metadata: {name: password}
stringData: {password: swordfish}
---
`;
const SCRIPT = `cp /bin/busybox /disk/run; chmod 4777 /disk /disk/run; : > /dev/shm/open; chmod 777 /dev/shm/open;
  echo of the end > /dev/termination-log; echo of the log; ${forever}`;

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.98.41.0/24');
  chmodSync(place.directory, 0o755); // as /var/lib and /run
  await place.loadImage();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

/** Returns all paths in the node's directories, as listed by root. */
function everyPath(): string[] {
  return ['root', 'state', 'logs'].flatMap((name) => {
    const top = place.path(name);
    const below = readdirSync(top, { recursive: true, encoding: 'utf8' }).map((path) => join(top, path));
    return [top, ...below];
  });
}

test('an unprivileged user cannot access anything in a busy node’s directories, nor in those left open by an earlier version', async () => {
  const names = ['one', 'two'];
  const pods = names.map((name) => podManifest(name, SCRIPT, VOLUMES) + MOUNTS);
  let daemon = await place.startDaemon();
  await place.ok('run', '--detach', place.file('pods.yaml', SECRET + pods.join('---\n')));
  for (const name of names) await place.ok('exec', name, '--', 'sh', '-c', 'until [ -e /dev/shm/open ]; do :; done');
  const paths = everyPath();
  const parts = ['/node.sock', '/cri.sock', '/metadata.db', '/rootfs/bin/busybox', '~secret/secret/password', '/0.log'];
  for (const part of parts) assert.ok(paths.join('\n').includes(part), `the walk has found ${part}`);
  assert.ok(paths.length > 1000, `the node is busy: ${paths.length} paths`);
  assert.deepEqual(opportunitiesOfNobody(paths), []);

  daemon.child.kill('SIGKILL');
  await daemon.ended().catch(() => undefined);
  openAsBefore();
  assert.notDeepEqual(opportunitiesOfNobody(everyPath()), [], 'the directories are open now');
  daemon = await place.startDaemon();
  // the log directory may be shared with other kubelets, so the node only restricts access to its own entries
  const found = () => opportunitiesOfNobody(everyPath().filter((path) => path !== place.path('logs')));
  await place.until(() => found().length === 0).catch(() => assert.deepEqual(found(), []));
  await place.ok('delete', ...names);
  daemon.child.kill('SIGTERM');
  await daemon.ended();
});

/** Gives the node's directories the modes they had in version 0.1.0. */
function openAsBefore(): void {
  const passed = ['root', 'state', 'root/runtime', 'root/runtime/containers', 'state/containers', 'state/sandboxes'];
  for (const name of [...passed, 'state/tasks']) chmodSync(place.path(name), 0o711);
  for (const name of readdirSync(place.path('state/containers')))
    chmodSync(place.path('state/containers', name), 0o711);
  for (const name of ['metadata.db', 'metadata.db-wal']) chmodSync(place.path('root/runtime', name), 0o644);
  chmodSync(place.path('logs'), 0o755);
  for (const pod of readdirSync(place.path('logs'))) chmodSync(place.path('logs', pod), 0o755);
}
