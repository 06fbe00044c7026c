/** `podwright run` when its pods cannot run, or its node stops. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, type TestContext, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, freePort, NodePlace, podManifest } from '../pods/node.fixture.ts';

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle.remove());

async function makePlace(context: TestContext, number: number): Promise<NodePlace> {
  const place = new NodePlace(bundle, `10.114.${number}.0/24`);
  context.after(() => place.remove());
  await place.loadImage();
  return place;
}

test('a rejected pod is reported with the reason, and run --detach fails', async (context) => {
  const place = await makePlace(context, 1);
  const withPort = (name: string, port: number) =>
    `${podManifest(name, forever)}    ports: [{containerPort: 80, hostPort: ${port}}]\n`;
  const port = await freePort();
  await place.ok('run', '--detach', place.file('a.yaml', withPort('a', port)));
  const { code, out, err } = await place.call('run', '--detach', place.file('b.yaml', withPort('b', port)));
  await place.ok('delete', 'a', 'b');
  assert.equal(code, 1);
  assert.match(
    err,
    /^b: NodePorts: .*node\(s\) didn't have free ports for the requested pod ports: port \d+\/TCP of the host is taken by pod default\/a$/m,
  );
  assert.doesNotMatch(out, /keeps? running/);
});

test('a pod with an invalid bandwidth is rejected and can be deleted', async (context) => {
  const place = await makePlace(context, 2);
  const manifest = podManifest('fast', forever).replace(
    '{name: fast}',
    '{name: fast, annotations: {kubernetes.io/ingress-bandwidth: fast}}',
  );
  const { code, out } = await place.call('run', '--detach', '--timeout', '3s', place.file('fast.yaml', manifest));
  assert.equal(code, 1);
  assert.match(out, /kubernetes\.io\/ingress-bandwidth "fast": it must be a quantity/);
  await place.ok('delete', 'fast');
  assert.doesNotMatch(await place.ok('ps'), /fast/);
});

test('if the node ends during a run, that is reported without a stack trace', async (context) => {
  const place = await makePlace(context, 3);
  const daemon = await place.startDaemon();
  const program = place.start('run', place.file('a.yaml', podManifest('a', 'sleep 2; touch /ready')));
  await place.until(() => program.err.includes('a: sandbox ready'));
  daemon.child.kill('SIGKILL');
  const { code, err } = await program.ended();
  await place.startDaemon();
  await place.ok('delete', 'a');
  assert.equal(code, 1);
  assert.match(err, /the node ended while its pods were running/);
  assert.doesNotMatch(err, /^ +at /m);
});

test('a node started by run resolves a relative --config against the working directory', async (context) => {
  const place = await makePlace(context, 4);
  place.file('config.toml', 'log_level = "warn"\n');
  const file = place.file('a.yaml', podManifest('a', 'true', '  restartPolicy: Never\n'));
  const [program, ...args] = place.command('--config', 'config.toml', 'run', '--once', file);
  const { status, stderr } = spawnSync(program!, args, { cwd: place.path('input'), encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});
