/** Plugins from the configuration file, with the bundled command: pods run on them, and `runtime plugins` lists them. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { after, before, type TestContext, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { NodePlace, podManifest } from '../pods/node.fixture.ts';

type State = { type: string; id: string; state: string; requires: string[]; note: string };

const example = new URL('../../examples/plugins/copy-snapshotter/src/index.ts', import.meta.url).pathname;
let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle.remove());

/** Creates a node with a configuration file. `withConfig` runs commands with this file; `place.call` runs them without it. */
function makePlace(context: TestContext, number: number, config: (place: NodePlace) => string) {
  const place = new NodePlace(bundle, `10.96.${number}.0/24`);
  context.after(() => place.remove());
  const file = place.path('config.toml');
  writeFileSync(file, config(place));
  const withConfig = (...args: string[]) => place.call('--config', file, ...args);
  return { place, file, withConfig };
}

const stateOf = (text: string, name: string) =>
  (JSON.parse(text) as State[]).find(({ type, id }) => `${type}/${id}` === name);

test('a pod runs on the example plugin with only a configuration file', async (context) => {
  const { place, file, withConfig } = makePlace(
    context,
    1,
    (at) => `[runtime]
snapshotter = "copy"
[runtime.plugins.copy]
package = "${example}"
settings = { directory = "${at.path('input/copies')}" }
`,
  );
  const daemon = await place.startDaemon('--config', file, 'node');
  await place.loadImage();
  const manifest = place.file(
    'a.yaml',
    podManifest('a', 'echo changed > /etc/issue; cat /etc/issue', '  restartPolicy: Never\n'),
  );
  const run = await place.call('run', '--once', manifest);
  assert.equal(run.code, 0, run.err + place.log());
  assert.match(run.out, /changed/);
  const { code, out } = await withConfig('runtime', 'plugins', '-o', 'json');
  assert.equal(code, 0);
  const copy = stateOf(out, 'snapshotter/copy');
  assert.deepEqual([copy?.state, copy?.note], ['ok', `copies in ${place.path('input/copies')}, reflink auto`]);
  assert.deepEqual(stateOf(out, 'images/store')?.requires, ['snapshotter/copy']);
  assert.equal(stateOf(out, 'images/store')?.note, 'unpacked into copy');
  assert.ok(
    readdirSync(place.path('input/copies')).some((name) => /^\d+$/.test(name)),
    'the layers are in its directory',
  );
  daemon.child.kill('SIGTERM');
  assert.equal((await daemon.ended()).code, 0);
});

test('without a running runtime the plugins are tried, and nothing is left behind', async (context) => {
  const { place, withConfig } = makePlace(context, 2, () => '');
  const { code, out, err } = await withConfig('runtime', 'plugins');
  assert.equal(code, 0, err);
  assert.match(err, /no runtime answers on .*cri\.sock/);
  assert.match(out, /^TYPE +ID +STATE +REQUIRES +NOTE\nhost +linux +ok/);
  for (const name of [
    'snapshotter +overlayfs',
    'task-runtime +oci',
    'sandbox-controller +pinned',
    'sandbox-controller +pause',
  ])
    assert.match(out, new RegExp(`^${name} +ok`, 'm'));
  assert.match(out, /^task-runtime +shim-v2 +skip .*no shim of a runtime handler is installed/m);
  assert.deepEqual(place.leftovers(), []);
  assert.equal(existsSync(place.path('root')), false);
});

test('plugins that require a missing program are skipped with the reason, and so are their dependents', async (context) => {
  const { withConfig } = makePlace(context, 3, () => '[runtime]\nconmon = "/no/such/conmon"\n');
  const { code, out } = await withConfig('runtime', 'plugins', '-o', 'json');
  assert.equal(code, 0);
  assert.deepEqual(
    ['task-runtime/oci', 'sandbox-controller/pinned', 'network/pods'].map((name) => stateOf(out, name)?.state),
    ['skip', 'skip', 'ok'],
  );
  assert.match(
    stateOf(out, 'sandbox-controller/pinned')?.note ?? '',
    /task-runtime\/oci: .*\/no\/such\/conmon.*not installed/,
  );
  const daemon = await withConfig('runtime');
  assert.equal(daemon.code, 1);
  assert.match(daemon.err, /find the program \/no\/such\/conmon: it is not installed/);
});

const refused: [string, string, RegExp][] = [
  ['a missing plugin', '[runtime.plugins.x]\npackage = "./nothing.js"', /load plugin x of .*config\.toml: Cannot find/],
  [
    'rejected settings',
    `[runtime.plugins.x]\npackage = "${example}"\nsettings = { reflink = "maybe", directory = "here" }`,
    /load plugin x of .*settings\.directory: must be an absolute path; settings\.reflink: /,
  ],
];
for (const [index, [what, config, message]] of refused.entries()) {
  test(`${what} fails the start with the plugin's name`, async (context) => {
    const { place, withConfig } = makePlace(context, 4 + index, () => config);
    const { code, err } = await withConfig('runtime');
    assert.equal(code, 1);
    assert.match(err, message);
    assert.deepEqual(place.leftovers(), []);
  });
}

test('a plugin used as a different type fails the start, naming the missing plugin', async (context) => {
  const { withConfig } = makePlace(
    context,
    6,
    () => `[runtime]
default_handler = "x"
[runtime.handlers.x]
sandbox = "x"
[runtime.plugins.x]
package = "${example}"
`,
  );
  const { code, err } = await withConfig('runtime');
  assert.equal(code, 1);
  assert.match(err, /sandbox-controller\/x: there is none/);
});

test('a pod with a RuntimeClass runs on the handler with that name: a containerd shim', async (context) => {
  const { place, file, withConfig } = makePlace(
    context,
    7,
    () => '[runtime.handlers.runc-box]\ntask = "shim-v2"\nprogram = "containerd-shim-runc-v2"\n',
  );
  const daemon = await place.startDaemon('--config', file, 'node');
  await place.loadImage();
  const runtimeClass =
    'apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: boxes}\nhandler: runc-box\n---\n';
  const spec = '  restartPolicy: Never\n  runtimeClassName: boxes\n';
  const manifest = runtimeClass + podManifest('boxed', 'echo from the box', spec);
  const run = await place.call('run', '--once', place.file('a.yaml', manifest));
  assert.equal(run.code, 0, run.err + place.log());
  assert.match(run.out, /from the box/);
  const { out } = await withConfig('runtime', 'plugins', '-o', 'json');
  assert.match(stateOf(out, 'shims/containerd')?.note ?? '', /^runc-box: \/.*containerd-shim-runc-v2$/);
  for (const name of ['task-runtime/shim-v2', 'sandbox-controller/shim']) assert.equal(stateOf(out, name)?.state, 'ok');
  daemon.child.kill('SIGTERM');
  assert.equal((await daemon.ended()).code, 0);
});
