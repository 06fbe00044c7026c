/** `--timeout` limits how long a command runs, and does not prolong it. */
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle.remove());

async function makePlace(context: TestContext, number: number): Promise<NodePlace> {
  const place = new NodePlace(bundle, `10.113.${number}.0/24`);
  context.after(() => place.remove());
  await place.loadImage();
  return place;
}

test('run --detach returns once its pods are ready', async (context) => {
  const place = await makePlace(context, 11);
  const out = await place.ok('run', '--detach', '--timeout', '1h', place.file('a.yaml', podManifest('a', forever)));
  assert.match(out, /^1 pod keeps running/m);
  await place.ok('delete', 'a');
});

test('run --once returns once its pods have ended', async (context) => {
  const place = await makePlace(context, 12);
  const file = place.file('a.yaml', podManifest('a', 'true', '  restartPolicy: Never\n'));
  await place.ok('run', '--once', '--timeout', '1h', file);
});

test('a pod without probes that crashes at once or later is not ready', async (context) => {
  const place = await makePlace(context, 13);
  const daemon = await place.startDaemon();
  const run = (script: string, ...args: string[]) =>
    place.call('run', '--timeout', '2s', ...args, place.file('crash.yaml', podManifest('crash', script)));
  const detached = await run('exit 3', '--detach');
  assert.equal(detached.code, 1, detached.out);
  assert.match(detached.err, /^podwright: not ready within 2 s \(--timeout\): crash$/m);
  await place.ok('delete', 'crash');
  const late = await run('sleep 0.5; exit 3');
  assert.equal(late.code, 1, late.out);
  assert.match(late.err, /^podwright: not ready within 2 s \(--timeout\): crash$/m);
  assert.equal((await place.pods()).length, 0);
  daemon.child.kill('SIGTERM');
  await daemon.ended();
});
