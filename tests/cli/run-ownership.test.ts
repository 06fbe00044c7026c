/** `podwright run` removes only the objects it has created. Also covers `stop` and `status`. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { isErrno } from '@podwright/base';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.132.1.0/24');
  await place.loadImage();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

const settings = (value: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {key: ${value}}\n`;
const applied = (kind: string, name: string) =>
  existsSync(place.path('root/manifests', `applied-${kind}_default_${name}.json`));
const names = async () => (await place.pods()).map(({ metadata }) => metadata.name);
const front = podManifest('front', forever, '  restartPolicy: Never\n');
const job = podManifest('job', 'echo done', '  restartPolicy: Never\n');

test('existing objects are kept, and replaced only after a prompt or with --force', async () => {
  await place.startDaemon();
  const map = place.file('map.yaml', settings('one'));
  await place.ok('apply', map);
  const once = await place.call('run', '--once', map, place.file('job.yaml', job));
  assert.equal(once.code, 0, once.err);
  assert.match(once.err, /^configmap settings existed before this run and will be kept$/m);
  assert.deepEqual([applied('configmap', 'settings'), await names()], [true, []]);

  await place.ok('run', '--detach', place.file('web.yaml', podManifest('web', forever)));
  const again = place.start('run', place.path('input/web.yaml'));
  await again.until(/^web +1\/1 +Running/m);
  again.child.kill('SIGINT');
  assert.equal((await again.ended()).code, 130);
  assert.deepEqual(await names(), ['web']);

  const changed = place.file('changed.yaml', `${settings('two')}---\n${job}`);
  const refused = await place.call('run', '--once', changed);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /configmap settings already exists with other content; --force replaces it/);
  assert.deepEqual(await names(), ['web']);
  const command = place.command('run', '--once', changed).join(' ');
  const prompted = async (answer: string) => {
    const terminal = place.startProgram('script', '-qfec', command, '/dev/null');
    await terminal.until(/Replace\? \[y\/N\] /);
    terminal.type(answer);
    return terminal.ended();
  };
  for (const answer of ['n\n', '\n', '\x04', '\x03']) assert.notEqual((await prompted(answer)).code, 0);
  assert.equal((await prompted('y\n')).code, 0);
  const forced = await place.call('run', '--once', '--force', map, place.path('input/job.yaml'));
  assert.equal(forced.code, 0, forced.err);
  assert.match(forced.err, /^configmap settings existed before this run; replaced and kept$/m);
  assert.equal(applied('configmap', 'settings'), true);
});

test('status shows the node, stop stops it, and the next start runs the pods that had not finished', async () => {
  const status = await place.json<Record<string, unknown>>('status');
  const { running, root, state, pods, pid } = status;
  assert.deepEqual(
    { running, root, state, pods },
    { running: true, root: place.path('root'), state: place.path('state'), pods: { Running: 1 } },
  );
  assert.match(
    await place.ok('status'),
    new RegExp(`^node +\\S+, process ${pid}, podwright .*, up .*\n(?:.*\n)*pods +1 Running$`, 'm'),
  );
  writeFileSync(place.path('root/manifests/mine.yaml'), podManifest('mine', forever));
  await place.until(async () => (await place.pods()).filter(({ status }) => status?.phase === 'Running').length === 2);
  await place.ok('run', '--detach', place.file('job.yaml', job));
  await place.until(async () => (await place.pods()).some(({ status }) => status?.phase === 'Succeeded'));
  const uids = async () => (await place.pods()).map(({ metadata }) => metadata.uid).sort();
  const before = await uids();
  const session = place.start('run', '--once', place.file('front.yaml', front));
  await session.until(/^front +\S+ +Running/m);

  const out = await place.ok('stop');
  assert.match(out, /^pod default\/front deleted$/m); // as the run itself does at its end
  assert.match(out, /^the node has stopped; its next start also starts (mine, web|web, mine)$/m);
  // the process has exited, but this test, its parent, may not have reaped it yet
  await place.until(() => {
    try {
      return !process.kill(pid as number, 0);
    } catch (error) {
      return isErrno(error, 'ESRCH');
    }
  });
  assert.equal((await session.ended()).code, 1);
  assert.deepEqual(
    ['job', 'web', 'front'].map((name) => applied('pod', name)),
    [true, true, false],
  );
  const left = place.leftovers().filter((line) => !/manifests\/|kubelet\/pod-statuses|logs\/default_job_/.test(line));
  assert.deepEqual(left, []);

  const none = await place.call('status');
  assert.deepEqual([none.code, /^node +not running$/m.test(none.out)], [3, true]);
  assert.equal(JSON.parse((await place.call('status', '-o', 'json')).out).running, false);
  assert.match(await place.ok('stop'), /^no node is running/);

  await place.startDaemon();
  await place.until(async () => (await place.pods()).filter(({ status }) => status?.phase === 'Running').length === 2);
  assert.deepEqual(await uids(), before);
  const [done] = (await place.pods()).filter(({ metadata }) => metadata.name === 'job');
  assert.deepEqual([done?.status?.phase, await place.ok('logs', 'job')], ['Succeeded', 'done\n']); // it did not run again
  const deleting = await place.ok('stop', '--delete');
  for (const what of ['pod default/web', 'pod default/job', 'configmap default/settings'])
    assert.match(deleting, new RegExp(`^${what} deleted$`, 'm'));
  assert.match(deleting, /^the node has stopped; its next start also starts mine$/m);
  assert.deepEqual(
    place.leftovers().filter((line) => !/manifests\/mine\.yaml/.test(line)),
    [],
  );
});

test('stop --keep leaves the pods to the next node', async () => {
  await place.startDaemon();
  await place.until(async () => (await place.pods()).some(({ status }) => status?.phase === 'Running'));
  const containerId = async () => (await place.pods())[0]!.status!.containerStatuses![0]!.containerID;
  const before = await containerId();
  assert.match(await place.ok('stop', '--keep'), /^the node has stopped; 1 pod keeps running$/m);
  await place.startDaemon();
  await place.until(async () => (await place.pods()).some(({ status }) => status?.phase === 'Running'));
  assert.equal(await containerId(), before);
  await place.ok('stop');
});

test('Ctrl-C during a stop reports what continues, and the next stop ends it at once', async () => {
  rmSync(place.path('root/manifests/mine.yaml'));
  await place.startDaemon();
  const slow = podManifest('slow', 'trap "" TERM; while :; do sleep 0.2; done').replace('Seconds: 2', 'Seconds: 300');
  await place.ok('run', '--detach', place.file('slow.yaml', slow));
  const first = place.start('stop');
  await place.until(async () => (await place.pods()).every(({ metadata }) => metadata.deletionTimestamp !== undefined));
  first.child.kill('SIGINT');
  const { code, err } = await first.ended();
  assert.equal(code, 130);
  const message =
    /^the node and its pods continue to stop; 'podwright .*stop --grace-period 0' kills the pods at once$/m;
  assert.match(err, message);
  assert.match(
    await place.ok('stop', '--grace-period', '0'),
    /^the node has stopped; its next start also starts slow$/m,
  );
  await place.startDaemon();
  assert.match(
    await place.ok('stop', '--delete', '--grace-period', '0'),
    /^pod default\/slow deleted\nthe node has stopped$/m,
  );
  assert.deepEqual(place.leftovers(), []);
});

test('leftovers of a killed run are listed by status, adopted by the same run, and removed with its node', async () => {
  const file = place.file('killed.yaml', podManifest('killed', forever));
  const first = place.start('run', file);
  await first.until(/^killed +1\/1 +Running/m);
  assert.doesNotMatch(await place.ok('status'), /^leftovers/m);
  const killed = once(first.child, 'exit');
  first.child.kill('SIGKILL');
  await killed;
  assert.match(await place.ok('status'), /^leftovers +pod killed: of a killed 'run'/m);

  const other = place.start('run', place.file('other.yaml', podManifest('other', forever)));
  await other.until(/^other +1\/1 +Running/m);
  const watching = place.start('run', place.path('input/other.yaml'));
  await watching.until(/^pod other: created by another 'podwright run', which removes it at exit$/m);
  assert.deepEqual((await place.ok('ps', '-aq')).split('\n').sort(), ['', 'killed', 'other']);
  for (const run of [watching, other]) {
    run.child.kill('SIGINT');
    assert.doesNotMatch((await run.ended()).err, /existed before/);
  }

  const second = place.start('run', file);
  await second.until(/^pod killed: adopted from a killed run, removed at exit$/m);
  await second.until(/^killed +1\/1 +Running/m);
  second.child.kill('SIGINT');
  const { code, err } = await second.ended();
  assert.deepEqual([code, /existed before/.test(err)], [130, false]);
  assert.equal((await place.call('status')).code, 3);
});

test('a stop right after a manifest change ends the pod and its successor', async () => {
  const manifest = place.path('root/manifests/mine.yaml');
  const mine = podManifest('mine', forever);
  writeFileSync(manifest, mine);
  await place.startDaemon();
  await place.until(async () => (await place.pods()).some(({ status }) => status?.phase === 'Running'));
  writeFileSync(manifest, mine.replace('metadata: {', 'metadata: {labels: {round: "2"}, '));
  await place.until(async () => (await place.pods()).some(({ metadata }) => metadata.labels?.round === '2'));
  assert.match(await place.ok('stop'), /^the node has stopped; its next start also starts mine$/m);
  rmSync(manifest);
  assert.deepEqual(place.leftovers(), []);
});
