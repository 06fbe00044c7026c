/** The `podwright cri-proxy` command. */
import assert from 'node:assert/strict';
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { connectCri, createCriServer } from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import { criMethodNames, parseScript } from '@podwright/cri-proxy';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';

let bundle: Bundle;
let directory: string;
before(async () => {
  bundle = await buildBundle();
  directory = mkdtempSync(join(tmpdir(), 'pwcpc-'));
});
after(() => {
  bundle.remove();
  rmSync(directory, { recursive: true });
});

const place = (name: string) => join(directory, name);

type Observed = { child: ChildProcess; output: () => string; errors: () => string };

const start = (...args: string[]) =>
  observed(spawn(process.execPath, [bundle.program, 'cri-proxy', '--listen', place('p.sock'), ...args]));

function observed(child: ChildProcessWithoutNullStreams): Observed {
  const texts = { output: '', errors: '' };
  child.stdout.on('data', (bytes) => {
    texts.output += bytes;
  });
  child.stderr.on('data', (bytes) => {
    texts.errors += bytes;
  });
  return { child, output: () => texts.output, errors: () => texts.errors };
}

async function stop(child: ChildProcess): Promise<number | null> {
  child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  return code;
}

const version = async () => {
  const cri = await connectCri({ runtimeEndpoint: place('p.sock'), logger: silentLogger });
  try {
    return (await cri.runtime.version({})).runtimeName;
  } finally {
    cri.close();
  }
};

test('calls are printed and recorded, and the recording is replayed', async () => {
  const { handlers } = new FakeRuntime();
  const server = await createCriServer({ socket: place('r.sock'), handlers, logger: silentLogger });
  const proxy = start('--to', `unix://${place('r.sock')}`, '--record', place('calls.jsonl'));
  assert.equal(await version(), 'fake');
  assert.equal(await stop(proxy.child), 0);
  await server.close(0);
  assert.equal(proxy.errors(), '');
  assert.match(proxy.output(), /^TIME +METHOD +POD +CONTAINER +TOOK +RESULT\n.* Version +- +- +[\d.]+ ms +OK\n/);
  assert.ok(!existsSync(place('p.sock')));
  assert.equal(readFileSync(place('calls.jsonl'), 'utf8').trimEnd().split('\n').length, 3);
  const replay = start('--replay', place('calls.jsonl'), '-o', 'json', '--method', 'Status');
  assert.equal(await version(), 'fake');
  assert.equal(await stop(replay.child), 0);
  assert.equal(replay.output(), '');
});

test('a single command shows how a client behaves when a sandbox takes long', async () => {
  const { handlers } = new FakeRuntime();
  const server = await createCriServer({ socket: place('r.sock'), handlers, logger: silentLogger });
  const script = "<(echo 'rules: [{method: RunPodSandbox, delay: 300ms, count: 1}]')";
  const command = `exec "$0" "$@" --seed 1 --script ${script}`;
  const args = [bundle.program, 'cri-proxy', '--listen', place('p.sock'), '--to', place('r.sock'), '-o', 'json'];
  const proxy = observed(spawn('bash', ['-c', command, process.execPath, ...args]));
  const cri = await connectCri({ runtimeEndpoint: place('p.sock'), logger: silentLogger });
  await cri.runtime.runPodSandbox({ config: { metadata: { name: 'p', uid: 'u', namespace: 'n', attempt: 0 } } });
  cri.close();
  assert.equal(await stop(proxy.child), 0);
  await server.close(0);
  const calls = proxy.output().trimEnd().split('\n');
  const { durationMs, script: changes } = JSON.parse(calls.find((line) => line.includes('"RunPodSandbox"'))!);
  assert.ok(durationMs >= 300);
  assert.deepEqual(changes, ['line 1: delayed 300 ms']);
});

test('bad scripts, recordings and flags are refused with the line, and nothing is served', async () => {
  writeFileSync(place('bad.yaml'), 'rules:\n- method: Version\n  dealy: 1s\n');
  writeFileSync(place('bad.jsonl'), '{"recording":"podwright-cri","version":9}\n');
  const cases: [string[], RegExp][] = [
    [['--to', '/r.sock', '--script', place('bad.yaml')], /bad\.yaml:3: unknown field "dealy"; did you mean "delay"\?/],
    [['--replay', place('bad.jsonl')], /bad\.jsonl:1: the recording has version 9; this program reads version 1/],
    [['--replay', place('none.jsonl')], /none\.jsonl: no such file/],
    [[], /either --to or --replay is needed/],
    [['--to', '/r.sock', '-o', 'xml'], /table, json or none/],
    [['--to', 'r.sock'], /expected unix:\/\/\/path/],
    [['--to', '/r.sock', '--record', place('bad.yaml')], /record to .*bad\.yaml: file already exists/],
  ];
  for (const [args, message] of cases) {
    const { child, errors } = start(...args);
    const [code] = await once(child, 'close');
    assert.equal(code, 1, args.join(' '));
    assert.match(errors(), message);
    assert.ok(!existsSync(place('p.sock')));
  }
});

test('the scripts in docs/cri-proxy.md and in the help are valid', () => {
  const help = readFileSync(
    new URL('../../packages/cli/src/command-line/cri-proxy-command.ts', import.meta.url),
    'utf8',
  );
  const [, inHelp = ''] = /^ +(rules:\n(?: +- .*\n)+)/m.exec(help) ?? [];
  assert.equal(parseScript(inHelp, { name: 'help', methods: criMethodNames() }).rules.length, 1);
  const text = readFileSync(new URL('../../docs/cri-proxy.md', import.meta.url), 'utf8');
  const [, script = ''] = /```yaml\n([\s\S]*?)```/.exec(text) ?? [];
  assert.equal(parseScript(script, { name: 'script', methods: criMethodNames() }).rules.length, 4);
});
