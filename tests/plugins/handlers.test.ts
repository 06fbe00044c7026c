/** Runtime handlers from a configuration file: pods run on the sandbox controller and task runtime of their handler. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { NamespaceMode } from '@podwright/cri';
import { runtimeOptions } from '../../packages/cli/src/daemon/runtime-options.ts';
import { loadConfig } from '../../packages/cli/src/settings/node-config.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const TOML = `
[runtime]
default_handler = "boxed"

[runtime.handlers.boxed]
task = "shim-v2"
program = "io.containerd.runc.v2"

[runtime.handlers.paused]
program = "runc"
sandbox = "pause"

[runtime.handlers.theirs]
sandbox = "own"
program = "crun"

[runtime.plugins.own]
package = "${new URL('./own-controller.fixture.ts', import.meta.url).pathname}"

[runtime.handlers.their-tasks]
task = "own-tasks"

[runtime.plugins.own-tasks]
package = "${new URL('./own-tasks.fixture.ts', import.meta.url).pathname}"

[runtime.handlers.nothing]
task = "shim-v2"

[runtime.handlers.broken]
program = "/no/such/runc"
`;

const place = makeTestPlace();
// the directories of handlers and plugins may remain, since they are not created by pods
for (const directory of [
  'state/oci/runc',
  'state/plugins/own-tasks/runc',
  'root/plugins/own',
  'root/plugins/own-tasks',
])
  mkdirSync(join(place.directory, directory), { recursive: true });
const runtime = new RuntimeUnderTest(place);
const file = join(place.directory, 'net.d', 'config.toml');

function handlerOptions(toml: string) {
  writeFileSync(file, toml);
  const { handlers, defaultHandler, plugins } = runtimeOptions(loadConfig({ config: file }));
  return { handlers, defaultHandler, plugins };
}

before(async () => void (await runtime.start(handlerOptions(TOML))));
after(async () => assert.deepEqual(await runtime.end(), []));

async function startPod(name: string, runtimeHandler: string) {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, name), runtimeHandler });
  const config = containerOf(image, 'main', 'echo "I am $(hostname)"; exec sleep 1000');
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

/** Returns the name of the program whose child is the container's init process. */
async function parentOf(containerId: string): Promise<string> {
  const { info } = await runtime.cri.runtime.containerStatus({ containerId, verbose: true });
  const { pid } = JSON.parse(info.info!) as { pid: number };
  const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1];
  return readFileSync(`/proc/${parent}/comm`, 'utf8').trim();
}

async function controllerOf(podSandboxId: string): Promise<string> {
  const { info } = await runtime.cri.runtime.podSandboxStatus({ podSandboxId, verbose: true });
  return (JSON.parse(info.info!) as { controller: string }).controller;
}

async function check(containerId: string, name: string): Promise<void> {
  const { cri } = runtime;
  const { stdout } = await cri.runtime.execSync({ containerId, cmd: ['hostname'], timeout: 60n });
  assert.equal(Buffer.from(stdout).toString(), `${name}\n`);
  const { stats } = await cri.runtime.containerStats({ containerId });
  assert.ok(stats!.memory!.workingSetBytes!.value > 0n);
  assert.match(readFileSync(join(place.logs, name, 'main.log'), 'utf8'), new RegExp(`stdout F I am ${name}$`, 'm'));
}

const table: [string, string, string, string][] = [
  ['crun', 'crun', 'pinned', 'conmon'],
  ['paused', 'paused', 'pause', 'conmon'],
  ['boxed', 'boxed', 'pinned', 'containerd-shim'],
  ['of a plugin', 'theirs', 'own', 'conmon'],
  ['of a plugin with tasks', 'their-tasks', 'pinned', 'conmon'],
  ['by default', '', 'pinned', 'containerd-shim'],
];
for (const [what, handler, controller, parent] of table) {
  test(`a pod runs on the handler ${what}`, async () => {
    const name = `on-${handler || 'default'}`;
    const { podSandboxId, containerId } = await startPod(name, handler);
    await check(containerId, name);
    assert.equal(await controllerOf(podSandboxId), controller);
    assert.equal(await parentOf(containerId), parent);
    await runtime.cri.runtime.stopPodSandbox({ podSandboxId });
    await runtime.cri.runtime.removePodSandbox({ podSandboxId });
    assert.deepEqual(await runtime.remains(), []);
  });
}

test('an error from a plugin’s sandbox controller is reported with its message and class', async () => {
  const { cri, image } = runtime;
  const modes = { pid: NamespaceMode.POD };
  const { podSandboxId } = await cri.runtime.runPodSandbox({
    config: podOf(place, 'pid', modes),
    runtimeHandler: 'theirs',
  });
  const config = containerOf(image, 'main', 'exec sleep 1000', modes);
  await assert.rejects(cri.runtime.createContainer({ podSandboxId, config }), {
    code: 'unimplemented',
    message: /this controller shares no PID namespace/,
  });
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('unavailable handlers are reported with the reason, and the others are offered', async () => {
  const { cri } = runtime;
  const run = (runtimeHandler: string) => cri.runtime.runPodSandbox({ config: podOf(place, 'none'), runtimeHandler });
  await assert.rejects(run('nothing'), {
    code: 'failed_precondition',
    message: /handler "nothing" cannot be used here: find the shim containerd-shim-nothing-v2: it is not installed/,
  });
  await assert.rejects(run('broken'), { code: 'failed_precondition', message: /no\/such\/runc is not installed/ });
  await assert.rejects(run('unknown'), {
    code: 'invalid_argument',
    message: /crun, runc, boxed, paused, theirs, their-tasks/,
  });
  const { runtimeHandlers, info } = await cri.runtime.status({ verbose: true });
  assert.deepEqual(
    runtimeHandlers.map(({ name }) => name),
    ['', 'crun', 'runc', 'boxed', 'paused', 'theirs', 'their-tasks'],
  );
  const { handlers } = JSON.parse(info.config!) as { handlers: { name: string; reason?: string }[] };
  assert.match(handlers.find(({ name }) => name === 'broken')?.reason ?? '', /not installed/);
});

test('pods of a handler that is no longer configured can still be used, stopped and removed', async () => {
  const pods = [await startPod('old-boxed', 'boxed'), await startPod('old-paused', 'paused')];
  await runtime.stop();
  await runtime.start(handlerOptions(''), { load: false });
  await check(pods[0]!.containerId, 'old-boxed');
  await check(pods[1]!.containerId, 'old-paused');
  await assert.rejects(startPod('new', 'boxed'), { code: 'invalid_argument' });
  for (const { podSandboxId } of pods) {
    await runtime.cri.runtime.stopPodSandbox({ podSandboxId });
    await runtime.cri.runtime.removePodSandbox({ podSandboxId });
  }
  assert.deepEqual(await runtime.remains(), []);
  await runtime.stop();
  await runtime.start(handlerOptions(TOML), { load: false });
});
