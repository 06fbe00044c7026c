/** `kubectl podwright`, and `podwright why` and `trace` with a kubeconfig, on a real node. Fails if kubectl is not installed. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Explanation } from '@podwright/kube-view';
import type { TraceSpan } from '@podwright/kubelet';
import { KUBECTL } from '../api/api-place.fixture.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { NodePlace, podManifest } from '../pods/node.fixture.ts';
import { type Ended, StartedProgram } from '../pods/started-program.ts';

const PLUGIN = new URL('../../bin/kubectl-podwright', import.meta.url).pathname;

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.172.249.0/24', { hasApi: true });
  place.file('api.toml', `[api]\nenabled = true\nservice_cidr = "${place.serviceCidr}"\nlisten = "127.0.0.1:0"\n`);
  daemon = await place.startDaemon();
  await place.loadImage();
  const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n';
  const crash = podManifest('crash', 'echo no database >&2; exit 3').replace(
    'name: crash',
    'name: crash, namespace: shop',
  );
  await place.ok('apply', place.file('crash.yaml', `${namespace}---\n${crash}`));
  place.file('admin.kubeconfig', readFileSync(place.path('state/admin.kubeconfig'), 'utf8'));
  installPlugin();
});
after(async () => {
  await place.call('stop', '--delete');
  await daemon.ended();
  await place.remove();
  bundle.remove();
});

/** Installs the plugin next to a `podwright` program, like install.sh does. */
function installPlugin(): void {
  const bin = place.path('bin');
  mkdirSync(bin);
  copyFileSync(PLUGIN, join(bin, 'kubectl-podwright'));
  writeFileSync(join(bin, 'podwright'), `#!/bin/sh\nexec ${process.execPath} ${bundle.program} "$@"\n`, {
    mode: 0o755,
  });
}

const admin = () => place.path('input/admin.kubeconfig');

/** Starts kubectl with the plugin in PATH. */
function startKubectl(args: string[], env: Record<string, string> = {}): StartedProgram {
  const PATH = `${place.path('bin')}:${process.env.PATH}`;
  return new StartedProgram([KUBECTL, ...args], { env: { PATH, HOME: place.directory, ...env } });
}

const kubectl = (args: string[], env?: Record<string, string>): Promise<Ended> => startKubectl(args, env).ended();

async function ok(args: string[], env?: Record<string, string>): Promise<string> {
  const { code, out, err } = await kubectl(args, env);
  assert.equal(code, 0, `${args.join(' ')}: ${err}`);
  return out;
}

test('kubectl podwright why explains a pod in the cluster used by kubectl', async () => {
  const crashed = async () => (await place.ok('get', 'pods', '-n', 'shop')).includes('CrashLoopBackOff');
  await place.until(crashed);
  const why = ['podwright', 'why', 'crash', '-n', 'shop'];
  const text = await ok([...why, '--kubeconfig', admin()]);
  assert.match(text, /^Pod shop\/crash: container main fails \(exit code 3\)/m);
  assert.match(text, /^ {2}no database$/m);
  const { finding } = JSON.parse(await ok([...why, '-o', 'json'], { KUBECONFIG: admin() })) as Explanation;
  assert.equal(finding!.cause, 'crash');
});

test('the namespace comes from the context, and --context selects a different one', async () => {
  const contexts = await ok(['config', 'get-contexts', '--kubeconfig', admin(), '--no-headers']);
  const [, , cluster, user] = contexts.trim().split(/\s+/);
  const shop = ['--namespace=shop', `--cluster=${cluster}`, `--user=${user}`];
  await ok(['config', 'set-context', 'shop', '--kubeconfig', admin(), ...shop]);
  assert.match(
    await ok(['podwright', 'why', 'crash', '--context', 'shop'], { KUBECONFIG: admin() }),
    /^Pod shop\/crash: /m,
  );
  const elsewhere = await kubectl(['podwright', 'why', 'crash'], { KUBECONFIG: admin() });
  assert.deepEqual(
    [elsewhere.code, elsewhere.err],
    [1, 'podwright: pods "crash" not found in the namespace "default"\n'],
  );
  // if KUBECONFIG lists several files, the one that contains the context is used
  const other = place.file('other.kubeconfig', 'apiVersion: v1\nkind: Config\n');
  const several = { KUBECONFIG: `${place.path('none')}:${other}:${admin()}` };
  assert.match(await ok(['podwright', 'why', 'crash', '--context', 'shop'], several), /^Pod shop\/crash: /m);
});

test('kubectl podwright trace shows the steps recorded by the kubelet and the runtime', async () => {
  const args = ['podwright', 'trace', 'crash', '-n', 'shop', '--kubeconfig', admin()];
  const spans = JSON.parse(await ok([...args, '-o', 'json'])) as TraceSpan[];
  const names = spans.map(({ name }) => name);
  for (const name of ['run sandbox', 'RunPodSandbox']) assert.ok(names.includes(name), names.join());
  assert.match(await ok(args), /^ {2}RunPodSandbox +\+/m);
});

test('a user without nodes/proxy gets no traces, and one without any permissions gets the server’s error', async () => {
  const eve = place.file('eve.kubeconfig', await place.ok('kubeconfig', '--user', 'eve'));
  const refused = await kubectl(['podwright', 'why', 'crash', '-n', 'shop', '--kubeconfig', eve]);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /User "eve" cannot get resource "pods"/);
  const grant = ['create', 'rolebinding', 'eve', '--clusterrole=view', '--user=eve', '-n', 'shop'];
  await ok([...grant, '--kubeconfig', admin()]);
  const why = () => kubectl(['podwright', 'why', 'crash', '-n', 'shop', '--kubeconfig', eve]);
  await place.until(async () => (await why()).code === 0);
  assert.match((await why()).out, /container main fails \(exit code 3\)/);
  const trace = await kubectl(['podwright', 'trace', 'crash', '-n', 'shop', '--kubeconfig', eve]);
  assert.match(trace.err, /cannot get resource "nodes\/proxy"/);
});

test('kubectl podwright dashboard serves the page until it is interrupted', async () => {
  const running = startKubectl(['podwright', 'dashboard', '-n', 'shop'], { KUBECONFIG: admin() });
  await running.until(/^http:\/\/127\.0\.0\.1:\d+\/#token=/m);
  running.child.kill('SIGINT');
  assert.equal((await running.ended()).code, 0);
});

test('other verbs and invalid options are rejected', async () => {
  const usage = await kubectl(['podwright', 'get', 'pods']);
  assert.equal(usage.code, 1);
  assert.match(usage.err, /^usage: kubectl podwright why\|trace\|dashboard/);
  assert.match(await ok(['podwright', '--help']), /^usage: kubectl podwright/);
  await place.fails(/--context: it selects a context of a kubeconfig/, 'why', 'crash', '--context', 'x');
  await place.fails(/there is no "x", only: /, 'why', 'crash', '--kubeconfig', admin(), '--context', 'x');
  await place.fails(/no such file/i, 'why', 'crash', '--kubeconfig', place.path('none'));
});
