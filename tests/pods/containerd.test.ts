/** `run` on other container runtimes: Debian's containerd or a Docker Engine, with both versions of the CRI. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RestartableRuntime, startOtherRuntime } from '../kubelet/suite-runtime.fixture.ts';
import { type Bundle, buildBundle } from './bundle.fixture.ts';
import { freePort, helloManifest, NodePlace } from './node.fixture.ts';

/** Inventory lines that may remain: a kubelet leaves the cgroups of the QoS classes in place, like upstream's. */
const LASTING = /^cgroups: [^:]*\/pwn-\w+(\/kubepods(\/besteffort|\/burstable)?)?$/;

let bundle: Bundle;
let runtime: RestartableRuntime;
before(async () => {
  [bundle, runtime] = await Promise.all([buildBundle(), startOtherRuntime('cc')]);
});
after(async () => {
  await runtime.stop();
  bundle.remove();
});

for (const version of ['v1', 'v1alpha2']) {
  test(`the example runs over ${version}, and Ctrl-C leaves nothing behind`, async (context) => {
    const place = new NodePlace(bundle, '10.99.99.0/24');
    context.after(() => place.remove());
    const endpoint = ['--container-runtime-endpoint', runtime.endpoint, '--cri-api-version', version];
    const kubelet = await place.startDaemon('kubelet', ...endpoint);
    const port = await freePort();
    const run = place.start('run', place.file('hello.yaml', helloManifest(port)));
    await run.until(/^fetch\/fetch \| <h1>Hello from Podwright<\/h1>$/m);
    const page = await fetch(`http://127.0.0.1:${port}/index.html`, { signal: AbortSignal.timeout(10_000) });
    assert.match(await page.text(), /Hello from Podwright/);
    assert.match(await place.ok('exec', 'web', '-c', 'server', '--', 'cat', '/www/index.html'), /Hello/);
    run.child.kill('SIGINT');
    assert.equal((await run.ended()).code, 130);
    assert.deepEqual(await place.pods(), []);
    kubelet.child.kill('SIGTERM');
    assert.equal((await kubelet.ended()).code, 0);
    assert.deepEqual(
      place.leftovers().filter((line) => !LASTING.test(line)),
      [],
    );
  });
}
