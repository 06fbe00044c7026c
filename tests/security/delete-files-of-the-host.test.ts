/**
 * A container passes a file descriptor of one of its directories to another container, which keeps exchanging its subdirectories with links
 * to the host while root deletes them, both in a volume and in the first container's root file system.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';

const FILES = Array.from({ length: 2000 }, (_, index) => `f${index}`);
let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.98.42.0/24');
  await place.loadImage();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

/** Returns the path of the directory with this name, anywhere under `top`. */
function find(top: string, name: string): string {
  const found = readdirSync(top, { recursive: true, encoding: 'utf8' }).find((path) => path.endsWith(`/${name}`));
  assert.ok(found !== undefined, `${name} is below ${top}`);
  return join(top, found);
}

/** Fills a directory as the container would, and starts exchanging its entries. */
async function exchangeIn(directory: string, victim: string): Promise<ChildProcess> {
  for (const index of [0, 1, 2]) {
    mkdirSync(join(directory, `d${index}`));
    for (const file of FILES) writeFileSync(join(directory, `d${index}`, file), '');
    symlinkSync(victim, join(directory, `l${index}`));
  }
  const child = spawn(process.execPath, [new URL('exchange.child.ts', import.meta.url).pathname, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout!, 'data');
  return child;
}

test('link targets are not deleted even if the links are replaced while a pod is deleted, and the pod is deleted', async () => {
  const victim = place.path('victim');
  mkdirSync(victim);
  for (const file of FILES) writeFileSync(join(victim, file), '');
  const rest = '  volumes: [{name: disk, emptyDir: {}}]\n';
  const mounts = '    volumeMounts: [{name: disk, mountPath: /disk}]\n';
  const daemon = await place.startDaemon();
  const script = `mkdir /disk/of-volume /of-root; ${forever}`;
  await place.ok('run', '--detach', place.file('racer.yaml', podManifest('racer', script, rest) + mounts));
  const ready = ['exec', 'racer', '--', 'sh', '-c', 'until [ -d /of-root ]; do :; done'];
  await place.ok(...ready);

  const exchanged = [
    find(place.path('root/kubelet/pods'), 'of-volume'),
    find(place.path('root/runtime/snapshots'), 'of-root'),
  ];
  const children = await Promise.all(exchanged.map((directory) => exchangeIn(directory, victim)));
  const deleting = place.call('delete', 'racer');
  await place.until(() => children.every(({ exitCode }) => exitCode !== null)).catch(() => undefined);
  for (const child of children) child.kill('SIGKILL');
  assert.equal(readdirSync(victim).length, FILES.length, 'files of the host');
  assert.equal((await deleting).code, 0);
  const trash = ['root/kubelet/trash', 'root/runtime/snapshots/overlayfs/trash'].map((path) => place.path(path));
  await place.until(() => trash.every((directory) => readdirSync(directory).length === 0));
  daemon.child.kill('SIGTERM');
  await daemon.ended();
});
