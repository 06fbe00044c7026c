/** A pod without seccomp settings tries to use a kernel feature that containers do not need: creating a user namespace. */
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, NO_PORTS, NodePlace, podManifest } from '../pods/node.fixture.ts';

/** A script that prints its seccomp mode (0: none, 2: filter; proc_pid_status(5)) and whether it can create a user namespace. */
const ATTACK =
  'grep ^Seccomp: /proc/self/status; unshare -U true 2>/dev/null && echo namespace || echo refused; sleep 1000';
const FILTERED = 'Seccomp:\t2\nrefused\n';
const UNCONFINED = 'Seccomp:\t0\nnamespace\n';

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle.remove());

/** Returns a manifest with these security contexts for the pod and its container. */
function manifest(name: string, { pod = '{}', container = '{}' }): string {
  return `${podManifest(name, ATTACK, `  securityContext: ${pod}\n`)}    securityContext: ${container}\n`;
}

/** Runs the pod and returns its container's output. */
async function seen(place: NodePlace, name: string, contexts: { pod?: string; container?: string }): Promise<string> {
  await place.ok('run', '--detach', place.file(`${name}.yaml`, manifest(name, contexts)));
  let log = '';
  await place.until(async () => {
    log = await place.ok('logs', name);
    return /namespace|refused/.test(log);
  });
  return log;
}

async function startNode(context: TestContext, subnet: string, toml: string): Promise<NodePlace> {
  const place = new NodePlace(bundle, subnet);
  context.after(() => place.remove());
  const daemon = await place.startDaemon('--config', place.file('config.toml', toml), 'node');
  context.after(() => daemon.child.kill('SIGKILL'));
  await place.loadImage();
  return place;
}

const unconfined = '{seccompProfile: {type: Unconfined}}';
const runtimeDefault = '{seccompProfile: {type: RuntimeDefault}}';

test('a standalone node applies RuntimeDefault to pods without seccomp settings, and honors settings of others', async (context) => {
  const place = await startNode(context, '10.99.125.0/24', '');
  assert.equal(await seen(place, 'silent', {}), FILTERED);
  assert.match(await place.ok('describe', 'silent'), /Seccomp: +RuntimeDefault \(the node's default\)/);
  assert.equal(await seen(place, 'pod-free', { pod: unconfined }), UNCONFINED);
  assert.match(await place.ok('describe', 'pod-free'), /Seccomp: +Unconfined$/m);
  assert.equal(await seen(place, 'own-free', { pod: runtimeDefault, container: unconfined }), UNCONFINED);
  assert.equal(await seen(place, 'own-filter', { pod: unconfined, container: runtimeDefault }), FILTERED);
  assert.equal(await seen(place, 'privileged', { container: '{privileged: true}' }), UNCONFINED);
  assert.match(await place.ok('describe', 'privileged'), /Seccomp: +Unconfined \(privileged\)/);
});

test('a kubelet on a different runtime uses upstream’s default, which is configurable', async (context) => {
  const runtime = await new RuntimeUnderTest().start({}, { load: false });
  context.after(() => runtime.end());
  const place = new NodePlace(bundle, '10.99.127.0/24');
  context.after(() => place.remove());
  for await (const { event } of runtime.cri.transfers.load({ path: bundle.image }))
    if (event.case === 'loaded') runtime.image = exampleImage;
  const endpoint = ['--container-runtime-endpoint', runtime.place.options.socket];
  const plain = await place.startDaemon('kubelet', ...endpoint);
  assert.equal(await seen(place, 'silent', {}), UNCONFINED);
  assert.match(
    (await place.call('doctor')).out,
    /^note +pod defaults +seccomp Unconfined, any number of processes a pod, with NET_RAW$/m,
  );
  plain.child.kill('SIGTERM');
  await plain.ended();
  const config = place.file('config.toml', `[kubelet]\nseccomp_default = true\n${NO_PORTS}`);
  const configured = await place.startDaemon('--config', config, 'kubelet', ...endpoint);
  assert.equal(await seen(place, 'configured', {}), FILTERED);
  for (const name of ['silent', 'configured']) await place.ok('delete', name);
  configured.child.kill('SIGTERM');
  await configured.ended();
});
