/** Logs that grow fast, on a whole node. */
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from './bundle.fixture.ts';
import { NodePlace, podManifest } from './node.fixture.ts';

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.132.26.0/24');
  await place.loadImage();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

const LINE = '0123456789'.repeat(10);

test('the log of a container that writes as fast as it can stays within a tenth above its limit', async (context) => {
  const maxSizeBytes = 10 << 20;
  const config = place.file('config.toml', '[kubelet]\ncontainer_log_max_size = "10Mi"\ncontainer_log_max_files = 3\n');
  await place.startDaemon('node', '--config', config);
  const script = `yes ${LINE} | head -c 200000000; touch /ended; sleep 1000`;
  await place.ok('run', '--detach', place.file('talker.yaml', podManifest('talker', script)));
  const [pod] = await place.pods();
  const directory = place.path('logs', `default_talker_${pod!.metadata.uid}`, 'main');
  /** The size of each rotated log: it stays as it is until the next is rotated. */
  const sizes = new Map<string, number>();
  const startedAtMs = performance.now();
  let endedAtMs = 0;
  await place.until(() => {
    for (const name of readdirSync(directory).filter((name) => /^0\.log\.[\d-]+$/.test(name)))
      sizes.set(name, statSync(`${directory}/${name}`, { throwIfNoEntry: false })?.size ?? sizes.get(name)!);
    const { mtimeMs } = statSync(`${directory}/0.log`, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    endedAtMs = performance.now();
    return sizes.size > 4 && Date.now() - mtimeMs > 1000;
  });
  const shares = [...sizes.values()].map((size) => size / maxSizeBytes);
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  context.diagnostic(
    `${(total / 1000 / (endedAtMs - startedAtMs - 1000)).toFixed()} MB/s; ${shares.map((share) => share.toFixed(3)).join(' ')}`,
  );
  assert.ok(Math.max(...shares) < 1.1, `${shares}`);
});
