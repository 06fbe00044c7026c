/** Logs that grow fast, on a whole node. */
import { after, before, test } from 'node:test';
import { assertNearLimit, FAST_WRITER, watchFastLog } from '../kubelet/fast-log.fixture.ts';
import { type Bundle, buildBundle } from './bundle.fixture.ts';
import { NodePlace, podManifest } from './node.fixture.ts';

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.132.26.0/24');
});
after(async () => {
  await place.remove();
  bundle.remove();
});

test('the log of a container that writes 50 MB/s stays within a tenth above its limit', async (context) => {
  const settings = '[kubelet]\ncontainer_log_max_size = "10Mi"\ncontainer_log_max_files = 3\n';
  await place.startDaemon('node', '--config', place.file('config.toml', settings));
  await place.loadImage();
  await place.ok('run', '--detach', place.file('talker.yaml', podManifest('talker', FAST_WRITER)));
  const [pod] = await place.pods();
  const log = await watchFastLog(place.path('logs', `default_talker_${pod!.metadata.uid}`, 'main'), 10 << 20);
  context.diagnostic(JSON.stringify(log));
  assertNearLimit(log);
});
