/** Flags mean the same as in kubectl. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;

before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.129.174.0/24');
  daemon = await place.startDaemon();
  await place.loadImage();
  await place.ok('run', '--detach', place.file('web.yaml', podManifest('web', forever)));
});
after(async () => {
  daemon?.child.kill('SIGTERM');
  await daemon?.ended();
  await place?.remove();
  bundle?.remove();
});

const configMap = (metadata: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {${metadata}}\n`;

test('-n sets the namespace of objects without one, and objects in other namespaces are rejected', async () => {
  const file = place.file('open.yaml', configMap('name: open'));
  assert.equal(await place.ok('apply', '-n', 'team', '-f', file), 'configmap team/open created\n');
  assert.equal(await place.ok('apply', '-f', file), 'configmap default/open created\n');
  assert.equal(await place.ok('delete', '-n', 'team', '-f', file), 'configmap team/open deleted\n');
  assert.equal(await place.ok('get', 'cm', '-A', '-o', 'name'), 'configmap/open\n');
  const other = place.file('other.yaml', configMap('name: other, namespace: elsewhere'));
  const why = /other\.yaml:3:36: metadata\.namespace: must be "team" as on the command line, got "elsewhere"/;
  for (const verb of ['apply', 'delete']) await place.fails(why, verb, '-n', 'team', '-f', other);
  assert.match((await place.call('check', '-n', 'team', other)).out, why);
  const gone = place.file('gone.yaml', podManifest('gone', 'exit 3').replace('spec:', 'spec:\n  restartPolicy: Never'));
  const run = await place.call('run', '-n', 'team', gone);
  assert.equal(run.code, 3);
  assert.match(run.err, /run --detach -n team \S+gone\.yaml\n.*describe gone -n team/);
});

test('wait accepts several conditions, and with -l waits for objects to be created', async () => {
  const met = 'pod/web condition met\n';
  const both = ['--for=condition=Ready', '--for=jsonpath={.status.phase}=Running'];
  assert.equal(await place.ok('wait', ...both, 'web'), met + met);
  await place.fails(
    /timed out .* after 200 ms\npod\/web: Running/,
    'wait',
    '--for=delete',
    ...both,
    'web',
    '--timeout=0.2s',
  );
  const waiting = place.start('wait', '--for=create', 'cm', '-l', 'app=late');
  await place.ok('apply', '-f', place.file('late.yaml', configMap('name: late, labels: {app: late}')));
  assert.deepEqual([(await waiting.ended()).code, waiting.out], [0, 'configmap/late condition met\n']);
  assert.equal(await place.ok('wait', '--for=create', 'pods,cm', '-l', 'app=late'), 'configmap/late condition met\n');
  assert.equal(await place.ok('wait', '--for=condition=Ready', 'pods', '--all', '-l', '!none'), met);
  await place.fails(/timed out[\s\S]*no configmaps match/, 'wait', '--for=create', 'cm', '-l', 'app=no', '--timeout=0');
});

test('-n is accepted before the verb', async () => {
  const { code, err } = await place.call('-n', 'team', 'logs', 'web');
  assert.equal(code, 1);
  assert.match(err, /there is no pod web in the namespace team/);
});

test('-A selects objects in all namespaces and cannot be combined with names', async () => {
  const there = podManifest('there', forever).replace('{name: there}', '{name: there, namespace: team}');
  await place.ok('apply', place.file('there.yaml', there));
  const met = await place.ok('wait', '--for=condition=Ready', 'pods', '--all', '-A', '--timeout', '60s');
  assert.deepEqual(met.trim().split('\n').sort(), ['pod/there condition met', 'pod/web condition met']);
  assert.match(
    await place.ok('describe', 'pods', '-A'),
    /^Name: +there$[\s\S]*^Name: +web$|^Name: +web$[\s\S]*^Name: +there$/m,
  );
  for (const verb of ['describe', 'delete', 'wait --for=delete'])
    await place.fails(/a name belongs to one namespace/, ...verb.split(' '), '-A', 'pod/web');
  assert.equal(await place.ok('delete', 'pods', '-A', '-l', 'app=none'), '');
  assert.equal(await place.ok('delete', 'pod', '-n', 'team', '--all', '--force'), 'pod team/there deleted\n');
});

test('flags that kubectl rejects or ignores are also rejected or ignored here', async () => {
  await place.fails(/'--all'/, 'delete', 'pods', '--all', '-l', 'app=web');
  await place.fails(/there is no node nope/, 'top', 'node', 'nope');
  assert.match(await place.ok('events', '--types=Warning', '--types', 'Normal'), /Container started/);
  assert.equal(await place.ok('get', 'pods', '--no-headers', '-o=custom-columns=:metadata.name'), 'web\n');
  await place.ok('delete', 'cm', 'late', '--grace-period=-1');
});

test('an empty selector or namespace, as from an unset variable, counts as absent', async () => {
  const why = /-l or --all/;
  for (const chosen of [
    ['pods', '-l', ''],
    ['pods', '-A', '-l='],
  ])
    await place.fails(why, 'delete', ...chosen);
  await place.fails(why, 'label', 'pods', '--selector', ' ', 'a=b');
  await place.fails(why, 'wait', '--for=delete', 'pods', '-l', '');
  await place.fails(/pod\/web: Running/, 'wait', '--for=delete', 'web', '-n', '', '--timeout=0');
  assert.match(await place.ok('ps', '-n='), /\bweb\b/);
  const file = place.file('unset.yaml', configMap('name: unset, namespace: elsewhere'));
  assert.equal(await place.ok('apply', '-n', '', '-f', file), 'configmap elsewhere/unset created\n');
  assert.equal(await place.ok('delete', '-n', '', '-f', file), 'configmap elsewhere/unset deleted\n');
});

test('exec -t requires -i, and -q prints only the command’s output', async () => {
  const command = `${place.command('exec', '-t', 'web', '--', 'sh', '-c').join(' ')} 'cat; test -t 1 || echo plain'`;
  const { out } = await place.startProgram('script', '-qfec', command, '/dev/null').ended();
  assert.match(out, /-t without -i: .*so the command gets no terminal[\s\S]*^plain\r$/m);
  const quiet = await place.call('exec', '-q', '-t', 'web', '--', 'echo', 'said');
  assert.deepEqual([quiet.code, quiet.out, quiet.err], [0, 'said\n', '']);
});
