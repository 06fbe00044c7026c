/** The examples for other projects' CI jobs, in a directory with just an image and `podwright` in PATH. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runProgram } from '@podwright/host';
import { startTestNode } from '@podwright/testing';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage } from '../pods/node.fixture.ts';

const job = mkdtempSync(join(tmpdir(), 'podwright-job-'));
const env = { ...process.env, PATH: `${job}${delimiter}${process.env.PATH}`, TMPDIR: job };
let bundle: Bundle;

before(async () => {
  bundle = await buildBundle();
  symlinkSync(bundle.image, join(job, 'app.tar'));
  const program = join(job, 'podwright');
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${bundle.program} "$@"\n`);
  chmodSync(program, 0o755);
});
after(async () => {
  rmSync(job, { recursive: true, force: true });
  await bundle?.remove();
});

const example = (name: string) => fileURLToPath(new URL(`../../examples/ci/${name}`, import.meta.url));

/** Returns a pod that runs a shell script once. */
const podThatRuns = (script: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'job' },
  spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: exampleImage, command: ['sh', '-c', script] }] },
});

const leftovers = () => readdirSync(job).filter((name) => !['app.tar', 'podwright', 'pod.json'].includes(name));

test('the example test starts a node, runs a pod and leaves nothing', async () => {
  const { exitCode, stdout, stderr } = await runProgram(process.execPath, ['--test', example('pod.test.js')], {
    cwd: job,
    env: { ...env, NODE_TEST_CONTEXT: undefined },
  });
  assert.equal(exitCode, 0, stdout + stderr);
  assert.match(stdout, /pass 1/);
  assert.deepEqual(leftovers(), []);
});

for (const [script, expected] of [
  ['echo worked', 0],
  ['echo broken >&2; exit 3', 3],
] as const)
  test(`the example script ends with exit code ${expected} for a pod that runs "${script}"`, async () => {
    writeFileSync(join(job, 'pod.json'), JSON.stringify(podThatRuns(script)));
    const { exitCode, stdout, stderr } = await runProgram(example('run-pods.sh'), ['pod.json', 'app.tar'], {
      cwd: job,
      env,
    });
    assert.equal(exitCode, expected, stdout + stderr);
    assert.match(stdout + stderr, expected === 0 ? /worked/ : /broken/);
    assert.deepEqual(leftovers(), []);
  });

test('the example script runs twice concurrently, on separate networks, and prints nothing but the output of its run', async () => {
  writeFileSync(join(job, 'pod.json'), JSON.stringify(podThatRuns('echo worked; sleep 3')));
  const runs = [1, 2].map(() => runProgram(example('run-pods.sh'), ['pod.json', 'app.tar'], { cwd: job, env }));
  const subnets = (await Promise.all(runs)).map(({ exitCode, stdout, stderr }) => {
    assert.equal(exitCode, 0, stdout + stderr);
    assert.doesNotMatch(stdout + stderr, /no node is running/);
    return /IP (10\.\d+\.\d+)/.exec(stdout + stderr)?.[1];
  });
  assert.notEqual(subnets[0], subnets[1]);
  assert.deepEqual(leftovers(), []);
});

test('a test node reports why a pod does not become ready, runs pods to completion, and is removed with all its files', async () => {
  const node = await startTestNode({ command: [process.execPath, bundle.program], timeoutMs: 20_000 });
  try {
    await node.podwright('load', bundle.image);
    const ended = await node.runToEnd(podThatRuns('echo done; exit 4'));
    assert.deepEqual([ended.exitCode, ended.stdout], [4, 'done\n']);
    const failing = podThatRuns('echo cannot start; exit 1');
    await assert.rejects(node.apply(failing), /exit code [1-9][0-9]*: .*job/s);
    assert.equal(await node.logs('job'), 'cannot start\n');
  } finally {
    await node.stop();
  }
  assert.equal(existsSync(node.directory), false);
});

test('a test node that cannot start says why and leaves nothing', async () => {
  const config = join(job, 'config.toml');
  writeFileSync(config, 'no_such_setting = 1\n');
  await assert.rejects(startTestNode({ command: [process.execPath, bundle.program], config }), /no_such_setting/);
  rmSync(config);
  await assert.rejects(startTestNode({ command: [join(job, 'missing')] }), /missing/);
});
