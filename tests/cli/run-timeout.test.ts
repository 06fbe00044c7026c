/** `--timeout` is the longest that a command may take, not the shortest. */
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
  assert.match(out, /^1 pod goes on running/m);
  await place.ok('delete', 'a');
});

test('run --once returns once its pods have ended', async (context) => {
  const place = await makePlace(context, 12);
  const file = place.file('a.yaml', podManifest('a', 'true', '  restartPolicy: Never\n'));
  await place.ok('run', '--once', '--timeout', '1h', file);
});
