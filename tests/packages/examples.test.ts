/**
 * Installs the published packages from their tarballs in an empty project, type-checks the examples in their READMEs, and runs them as
 * plain JavaScript.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { createCriServer } from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import { create, PodSandboxSchema, type PodSource } from '@podwright/nri';
import { answers, FakePlugins } from '../../packages/cni/src/fake-plugin.fixture.ts';
import { AdaptationUnderTest, containerSource } from '../../packages/nri/src/adaptation.fixture.ts';
import { importedPackages } from '../../scripts/packages/emit.ts';
import { startOwnCluster } from '../cluster/cluster.fixture.ts';
import { FaultyRegistry } from '../images/faulty-registry.ts';
import { addImage, makeLayer } from '../images/made-image.ts';
import { buildBundle } from '../pods/bundle.fixture.ts';
import { makeScratch, processesWith } from '../tasks/fixture.ts';
import { PackedPackages, runJavaScript, typeErrors } from './packed.fixture.ts';

const packed = new PackedPackages();
const project = join(packed.directory, 'project');
before(() => packed.install(project));
after(() => packed[Symbol.dispose]());

/** Runs a package's example with these arguments; returns its output. */
type Run = (...args: string[]) => Promise<string>;

/** Creates a directory under /var/tmp, because overlayfs does not work on overlayfs. */
async function scratch(t: TestContext): Promise<string> {
  const directory = await mkdtemp('/var/tmp/podwright-packages-');
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

const expectations: Record<string, (run: Run, t: TestContext) => Promise<void>> = {
  'kube-client': async (run, t) => {
    const { cluster } = await startOwnCluster();
    t.after(() => cluster[Symbol.asyncDispose]());
    const path = join(await scratch(t), 'kubeconfig');
    await writeFile(path, cluster.kubeconfig(cluster.adminCredential()));
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'kube-system' } };
    await cluster.apply({ ...pod, spec: { containers: [{ name: 'server', image: 'nginx' }] } });
    assert.equal(await run(path, 'kube-system'), 'web: Pending\nADDED web\n1 pods in the cache\n');
  },
  cri: async (run, t) => {
    const runtime = new FakeRuntime({ images: ['registry/app:1'] });
    const socket = join(await scratch(t), 'cri.sock');
    const server = await createCriServer({ socket, handlers: runtime.handlers, logger: silentLogger });
    t.after(() => server.close(0));
    const labels = { 'io.kubernetes.pod.namespace': 'default' };
    const metadata = { name: 'web', namespace: 'default', uid: 'u', attempt: 0 };
    const { podSandboxId } = await runtime.client.runtime.runPodSandbox({ config: { metadata, labels } });
    const config = { metadata: { name: 'server', attempt: 0 }, image: { image: 'registry/app:1' }, labels };
    const { containerId } = await runtime.client.runtime.createContainer({ podSandboxId, config });
    await runtime.client.runtime.startContainer({ containerId });
    const [version, container, ...more] = (await run(`unix://${socket}`)).split('\n');
    assert.match(version!, /^\S+ \S+ with CRI v1$/);
    assert.equal(container, `${containerId} server CONTAINER_RUNNING registry/app:1`);
    assert.deepEqual(more, ['1 images', '']);
  },
  nri: async (run) => {
    await using runtime = await new AdaptationUnderTest().listen();
    const printed = run(runtime.socket);
    await runtime.until(() => runtime.adaptation.plugins.length > 0);
    const annotations = { 'memory.example/limit': '1000' };
    const pod: PodSource = { id: 'p', message: () => create(PodSandboxSchema, { id: 'p', name: 'web', annotations }) };
    const adjust = await runtime.adaptation.createContainer(containerSource('app', {}, pod));
    assert.equal(adjust?.linux?.resources?.memory?.limit?.value, 1000n);
    await runtime.adaptation.stop();
    assert.equal(await printed, '0 pods with 0 containers\nlimit /web/app to 1000 bytes\n');
  },
  cni: async (run, t) => {
    const plugins = await FakePlugins.create();
    t.after(() => plugins[Symbol.asyncDispose]());
    for (const name of ['first', 'second']) await plugins.install(name, answers('10.1.2.3/24'));
    const configurations = join(plugins.directory, 'net.d');
    await mkdir(configurations);
    const list = { cniVersion: '1.0.0', name: 'example', plugins: [{ type: 'first' }, { type: 'second' }] };
    await writeFile(join(configurations, '10-example.conflist'), JSON.stringify(list));
    const printed = await run('/proc/self/ns/net', configurations, plugins.directory, plugins.cacheDirectory);
    assert.equal(printed, 'example: 10.1.2.3\nattachments: 0\n');
    assert.deepEqual(await plugins.journal(), ['ADD first', 'ADD second', 'DEL second', 'DEL first']);
  },
  streaming: async (run) => assert.equal(await run(), 'output\nexit code 3\n'),
  ttrpc: async (run, t) => {
    assert.equal(await run(join(await scratch(t), 'greeter.sock')), 'hello, containerd\n');
  },
  grpc: async (run, t) => {
    assert.equal(await run(join(await scratch(t), 'greeter.sock')), 'hello, kubelet\na\nb\nc\n');
  },
  images: async (run, t) => {
    await using registry = await FaultyRegistry.start();
    const { id } = addImage(registry, { tag: '1', layers: [makeLayer({ hello: 'y' })] });
    const name = `${registry.host}/room/app:1`;
    const [pulled, listed, size, remaining] = (await run(join(await scratch(t), 'store'), name)).split('\n');
    assert.deepEqual([pulled, listed], [`${name} runs sh`, 'root file system: hello']);
    assert.ok(size?.startsWith(`${id}: `));
    assert.equal(remaining, 'remaining images: 0, remaining snapshots: 0');
  },
  shim: async (run, t) => {
    const place = makeScratch();
    t.after(() => place.remove());
    const printed = await run(join(place.directory, 'shims'), place.rootfs, 'sh', '-c', 'exit 3');
    assert.match(printed, /^process \d+ of the host has exited with code 3\n$/);
    const ended = () => processesWith(place.directory).length === 0 || undefined;
    await waitFor(ended, { intervalMs: 20, signal: AbortSignal.timeout(60_000) });
  },
  metadata: async (run, t) => assert.equal(await run(join(await scratch(t), 'things.db')), 'first green\n'),
  testing: async (run, t) => {
    const bundle = await buildBundle();
    t.after(() => bundle.remove());
    const podwright = join(await scratch(t), 'podwright');
    await writeFile(podwright, `#!/bin/sh\nexec ${process.execPath} ${bundle.program} "$@"\n`, { mode: 0o755 });
    const printed = await run(bundle.image, podwright);
    assert.equal(printed, 'log: started\nhost name: app\njob: exit code 3, output failed\n');
  },
  system: async (run) => assert.match(await run(), /^\[ '(?=.*tmpfs)(?=.*nosuid).*' \]\n$/),
  'kube-api': async (run) => {
    const [pod, errors, missing, unknown] = (await run()).split('\n');
    assert.deepEqual([pod, errors], ['web: Burstable, restarted Always', '0 errors']);
    assert.equal(missing, 'wrong.yaml:7:5: spec.containers[0].image: is required');
    assert.match(unknown!, /imagee: unknown field/);
  },
  'kube-schema': async (run) => {
    const [object, resource] = (await run()).split('\n');
    const metadata = { name: 'settings' };
    const expected = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { color: 'green' } };
    assert.deepEqual(JSON.parse(object!), expected);
    assert.match(resource!, /^deployment \(deploy\): create delete /);
  },
  base: async (run) =>
    assert.match(await run(), /^web: created\nalready_exists: .*\nunavailable: .*\nnames in use: web\n$/),
  host: async (run, t) => {
    const file = join(await scratch(t), 'cgroup.json');
    assert.match(await run(file), /^cgroup (v1|v2|hybrid)\nmeasured, exit code 3\n$/);
    assert.ok(JSON.parse(readFileSync(file, 'utf8')).cpu.usageNanoseconds > 0);
  },
};

const examples = packed.names.filter((name) => packed.readme(name) !== undefined);

test('the examples and imports of every export have no type errors', async () => {
  const imports = packed.names
    .flatMap((name) => packed.exportsOf(name))
    .map((path, index) => `import * as module${index} from '${path}';\nconsole.log(typeof module${index});\n`);
  await writeFile(join(project, 'imports.ts'), imports.join(''));
  for (const name of examples) await writeFile(join(project, `${name}.ts`), packed.readme(name)!.example);
  assert.equal(await typeErrors(project, ['imports.ts', ...examples.map((name) => `${name}.ts`)]), '');
});

for (const name of packed.names) {
  test(`every export of @podwright/${name} can be imported`, async () => {
    const imports = packed.exportsOf(name).map((path) => `import '${path}';\n`);
    assert.match(await runJavaScript(project, `${imports.join('')}console.log('imported');\n`), /^imported\n/);
  });
}

test('this file has exactly one expectation for each README example', () => {
  assert.deepEqual(examples, Object.keys(expectations).sort());
});

for (const [name, expectation] of Object.entries(expectations)) {
  test(`the example in the README of @podwright/${name} runs as plain JavaScript`, (t) =>
    expectation((...args) => runJavaScript(project, packed.readme(name)!.example, args), t));
}

test('the command in each README installs what its example imports', () => {
  for (const name of examples) {
    const { installs, example } = packed.readme(name)!;
    assert.deepEqual([...new Set(importedPackages(example))].sort(), installs.sort(), name);
  }
});
