/**
 * A daemon and its pods while its program's files are removed and replaced by another build, as npm, a package manager or a rebuild does.
 */
import assert from 'node:assert/strict';
import { cpSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.98.31.0/24');
});
after(async () => {
  await place.remove();
  bundle.remove();
});

test('a running node never needs the files of its program again', async () => {
  const dist = place.path('dist');
  cpSync(dirname(bundle.program), dist, { recursive: true, dereference: true });
  symlinkSync(new URL('../../node_modules', import.meta.url).pathname, place.path('node_modules'));
  const daemon = place.startProgram(process.execPath, join(dist, 'podwright.js'), ...place.flags(), 'node');
  await place.until(async () => (await place.call('ps')).code === 0);
  rmSync(dist, { recursive: true });

  await place.loadImage(); // unpacks layers in a worker thread
  await place.ok('apply', place.file('pod.yaml', podManifest('web', `echo started; ${forever}`)));
  await place.ok('wait', 'pod/web', '--for=condition=Ready', '--timeout=60s');
  assert.equal(await place.ok('exec', 'web', '--', 'echo', 'hello'), 'hello\n');
  assert.equal(await place.ok('logs', 'web'), 'started\n');
  await place.ok('delete', 'pod', 'web');
  daemon.child.kill('SIGTERM');
  assert.equal((await daemon.ended()).code, 0);
});
