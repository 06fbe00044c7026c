/** User errors result in a clear message and an exit code, and leave nothing behind on the host. */
import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { after, before, type TestContext, test } from 'node:test';
import type { Event } from '@podwright/kube-api';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, freePort, NodePlace, podManifest } from '../pods/node.fixture.ts';

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle.remove());

function makePlace(context: TestContext, number: number): NodePlace {
  const place = new NodePlace(bundle, `10.97.${number}.0/24`);
  context.after(() => place.remove());
  return place;
}

const good = podManifest('good', 'true');
const manifests: [string, string, RegExp][] = [
  ['is not YAML', 'a: [1, 2\nb: }', /bad\.yaml:\d+/],
  ['is empty', '', /bad\.yaml:1:1: contains no Kubernetes object/],
  [
    'has a wrong type deep in a pod',
    `${good}    ports: [{containerPort: many}]\n`,
    /bad\.yaml:\d+.*containers\[0\]\.ports\[0\]\.containerPort.*many/,
  ],
  [
    'has an unknown field',
    `${good}    imagePullPolcy: Never\n`,
    /bad\.yaml:\d+.*containers\[0\]\.imagePullPolcy.*imagePullPolicy/,
  ],
  ['has two pods of one name', `${good}---\n${good}`, /bad\.yaml:\d+.*good/],
  [
    'has a pod without containers',
    'apiVersion: v1\nkind: Pod\nmetadata: {name: none}\nspec: {containers: []}\n',
    /bad\.yaml:\d+.*spec\.containers/,
  ],
  [
    'has a mebibyte of annotations',
    good.replace('{name: good}', `{name: good, annotations: {large: ${'x'.repeat(1 << 20)}}}`),
    /^[^\n]{0,100}bad\.yaml:\d+[^\n]{0,100}metadata\.annotations[^\n]{0,20}: must be at most 262144 bytes together/,
  ],
];
for (const [index, [what, text, expected]] of manifests.entries()) {
  test(`a manifest that ${what} is refused with its file, line and field`, async (context) => {
    const place = makePlace(context, index + 1);
    const { code, err } = await place.call('run', place.file('bad.yaml', text));
    assert.equal(code, 1);
    assert.match(err, expected);
    assert.deepEqual(place.leftovers(), []);
  });
}

test('a name too long for a file name is rejected by check, apply, run and the manifest directory', async (context) => {
  const place = makePlace(context, 9);
  const name = 'n'.repeat(218);
  const refused = /metadata\.name: must be at most 210 characters in namespace default, got 218: the directory of/;
  const text = podManifest(name, 'true');
  const file = place.file('long.yaml', text);
  await place.fails(refused, 'run', file);
  const { code, out } = await place.call('check', file);
  assert.equal(code, 1);
  assert.match(out, refused);
  const daemon = await place.startDaemon();
  await place.fails(refused, 'apply', '--filename', file);
  writeFileSync(place.path('root/manifests/long.yaml'), text);
  writeFileSync(Buffer.from(`${place.path('root/manifests')}/caf\xe9.yaml`, 'latin1'), good);
  const hasLogged = (message: RegExp) => message.test(daemon.err);
  await place.until(() => hasLogged(refused) && hasLogged(/caf.\.yaml.*its name is not UTF-8: rename it/));
  assert.deepEqual(await place.pods(), []);
  await place.fails(/choose a shorter --state/, '--state', `/tmp/${'s'.repeat(110)}`, 'ps');
  daemon.child.kill();
  await daemon.ended();
});

test('a missing manifest is named', async (context) => {
  const place = makePlace(context, 10);
  const { code, err } = await place.call('run', '/no/such/file.yaml');
  assert.equal(code, 1);
  assert.match(err, /\/no\/such\/file\.yaml/);
});

test('unknown flags and commands are refused with a suggestion', async (context) => {
  const place = makePlace(context, 11);
  for (const [args, expected] of [
    [['run', '--onec', 'x'], /--once/],
    [['pss'], /\bps\b/],
    [['run', '--timeout', 'soon', 'x'], /soon.*duration/s],
    [['ps', '-o', 'xml'], /xml.*wide, json, yaml, kyaml, name/s],
  ] as const) {
    const { code, err } = await place.call(...args);
    assert.notEqual(code, 0);
    assert.match(err, expected);
  }
});

test('commands that require a running node print how to start one', async (context) => {
  const { code, err } = await makePlace(context, 12).call('ps');
  assert.equal(code, 1);
  assert.match(err, /no node is running.*podwright run/);
});

const configurations: [string, RegExp][] = [
  ['root = \n', /config\.toml:1:\d+/],
  ['[kubelet]\nmax_pods = "many"\n', /config\.toml:2: kubelet\.max_pods/],
  ['rooot = "/x"\n', /config\.toml:1: .*rooot/],
];
for (const [index, [text, expected]] of configurations.entries()) {
  test(`a broken configuration file is refused with its file and line (${index + 1})`, async (context) => {
    const place = makePlace(context, 13 + index);
    writeFileSync(place.path('config.toml'), text);
    const { code, err } = await place.call('--config', place.path('config.toml'), 'run', place.file('a.yaml', good));
    assert.equal(code, 1);
    assert.match(err, expected);
    assert.deepEqual(place.leftovers(), []);
  });
}

test('with an unreachable registry, --timeout ends with the pull error', async (context) => {
  const place = makePlace(context, 20);
  const text = good.replace(/image: .*/, `image: 127.0.0.1:${await freePort()}/nothing:1`);
  const { code, err } = await place.call('run', '--timeout', '4s', place.file('a.yaml', text));
  assert.equal(code, 1);
  assert.match(err, /ErrImagePull: .*connection refused; is the registry running/);
  assert.match(err, /--timeout/);
  assert.deepEqual(place.leftovers(), []);
});

test('a command missing from the image is named', async (context) => {
  const place = makePlace(context, 21);
  await place.loadImage();
  const text = podManifest('a', '', '  restartPolicy: Never\n').replace(/command: .*/, 'command: [/bin/no-such]');
  const { code, err } = await place.call('run', '--once', place.file('a.yaml', text));
  assert.notEqual(code, 0);
  assert.match(err, /no-such.*(no such file|not found)/i);
  assert.deepEqual(place.leftovers(), []);
});

test('a host without CNI plugins runs pods, unless mode = "cni" requires them, in which case the missing ones are named', async (context) => {
  const place = makePlace(context, 22);
  await place.loadImage();
  mkdirSync(place.path('cni-bin'));
  writeFileSync(place.path('config.toml'), `[network]\ncni_bin_dirs = ["${place.path('cni-bin')}"]\n`);
  const run = (...args: string[]) => place.call('--config', place.path('config.toml'), 'run', ...args);
  const once = place.file('once.yaml', podManifest('once', 'true', '  restartPolicy: Never\n'));
  assert.equal((await run('--once', once)).code, 0);
  const plugins = [{ type: 'bridge', bridge: place.scope.bridge, ipam: { type: 'host-local' } }];
  writeFileSync(place.path('net.d/10-host.conflist'), JSON.stringify({ cniVersion: '0.4.0', name: 'host', plugins }));
  assert.equal((await run('--once', once)).code, 0); // the network of the first start is kept
  appendFileSync(place.path('config.toml'), 'mode = "cni"\n');
  const { code, out, err } = await run('--timeout', '5s', place.file('a.yaml', podManifest('a', forever)));
  assert.equal(code, 1);
  assert.match(out + err, /bridge.*cni-bin/s);
  assert.deepEqual(place.leftovers(), []);
});

const goodNetwork = (place: NodePlace) =>
  JSON.stringify({
    cniVersion: '0.4.0',
    name: 'good',
    plugins: [{ type: 'loopback' }, { type: 'pwtest', at: place.directory }],
  });

function placeWithPlugin(context: TestContext, number: number, script: string): NodePlace {
  const place = makePlace(context, number);
  mkdirSync(place.path('cni-bin'));
  writeFileSync(place.path('cni-bin/pwtest'), `#!/bin/sh\n${script}\n`);
  chmodSync(place.path('cni-bin/pwtest'), 0o755);
  const directories = `["${place.path('cni-bin')}", "/usr/lib/cni", "/opt/cni/bin"]`;
  writeFileSync(place.path('config.toml'), `[network]\ncni_bin_dirs = ${directories}\n`);
  writeFileSync(place.path('net.d/20-good.conflist'), goodNetwork(place));
  return place;
}

test('the message of a failing CNI plugin is shown, its repeated events are aggregated, and nothing is left behind', async (context) => {
  const fails = `[ "$CNI_COMMAND" = ADD ] || exit 0; echo '{"cniVersion":"0.4.0","code":11,"msg":"no cable"}'; exit 1`;
  const place = placeWithPlugin(context, 23, fails);
  await place.loadImage();
  const file = place.file('a.yaml', podManifest('a', forever));
  const config = ['--config', place.path('config.toml')];
  const { code, out } = await place.call(...config, 'run', '--detach', '--timeout', '4s', file);
  assert.equal(code, 1);
  assert.match(out, /no cable/);
  // each attempt creates a sandbox with a different ID, which must not result in separate events
  const events = async () => {
    const { items } = await place.json<{ items: Event[] }>(...config, 'get', 'events');
    return items.filter(({ reason }) => reason === 'FailedCreatePodSandBox');
  };
  await place.until(async () => (await events()).reduce((sum, { count }) => sum + count, 0) >= 3);
  assert.equal((await events()).length, 1, JSON.stringify(await events()));
  await place.ok(...config, 'stop', '--delete');
  assert.deepEqual(place.leftovers(), []);
});

test('a hanging CNI plugin is visible in the trace, and Ctrl-C still ends everything', async (context) => {
  const place = placeWithPlugin(context, 24, '[ "$CNI_COMMAND" = ADD ] || exit 0; exec sleep 1000');
  await place.loadImage();
  const file = place.file('a.yaml', podManifest('a', forever));
  const run = place.start('--config', place.path('config.toml'), 'run', file);
  const hangs =
    /^run sandbox .*▒\n {2}in progress\n {2}RunPodSandbox .*▒\n(?:.*\n)*.*CNI ADD pwtest.*▒\n +in progress$/m;
  await place.until(async () => hangs.test((await place.call('trace', 'a')).out));
  const watch = place.start('trace', 'a', '-w');
  await place.until(() => (watch.out.match(/^run sandbox/gm) ?? []).length >= 2); // the step is longer each time
  watch.child.kill('SIGINT');
  await watch.ended();
  run.child.kill('SIGINT');
  assert.equal((await run.ended()).code, 130);
  assert.deepEqual(place.leftovers(), []);
});

test('a broken CNI file next to a valid one is skipped', async (context) => {
  const place = makePlace(context, 25);
  await place.loadImage();
  writeFileSync(place.path('net.d/10-broken.conflist'), '{"name": ');
  const ipam = { type: 'host-local', dataDir: place.path('state/ipam'), ranges: [[{ subnet: '10.97.25.0/24' }]] };
  const plugins = [{ type: 'bridge', bridge: place.scope.bridge, isGateway: true, ipam }];
  writeFileSync(place.path('net.d/20-good.conflist'), JSON.stringify({ cniVersion: '0.4.0', name: 'good', plugins }));
  const { code } = await place.call(
    'run',
    '--once',
    place.file('a.yaml', podManifest('a', 'true', '  restartPolicy: Never\n')),
  );
  assert.equal(code, 0);
});

test('the socket of a running daemon is not replaced, but a stale one is', async (context) => {
  const place = makePlace(context, 26);
  mkdirSync(place.path('state'));
  const live = createServer().listen(place.path('state/cri.sock'));
  const refused = await place.call('node');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /cri\.sock/);
  await new Promise((resolve) => live.close(resolve));
  const daemon = await place.startDaemon();
  const second = await place.call('node');
  assert.equal(second.code, 1);
  assert.match(second.err, /podwright: .*(cri\.sock|lock|already|another)/);
  daemon.child.kill('SIGKILL');
  await daemon.ended().catch(() => undefined);
  const again = await place.startDaemon();
  again.child.kill('SIGTERM');
  assert.equal((await again.ended()).code, 0);
});

test('the error for non-root users suggests sudo', async (context) => {
  const place = makePlace(context, 27);
  chmodSync(place.directory, 0o755);
  const command = place.command('run', place.file('a.yaml', good));
  const asNobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];
  chmodSync(place.path('input'), 0o755);
  const { code, err } = await place.startProgram(...asNobody, ...command).ended();
  assert.equal(code, 1);
  assert.match(err, /root.*sudo/);
  assert.deepEqual(place.leftovers(), []);
});
