/** Errors are a single readable message, without errno names, long IDs or wrong plurals. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, freePort, NodePlace, podManifest } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.175.3.0/24');
  mkdirSync(place.path('input/empty'));
});
after(async () => {
  daemon?.child.kill('SIGTERM');
  await daemon?.ended();
  await place.remove();
  bundle.remove();
});

/** Patterns that no error message may contain, with the reason. */
const WRONG: [string, RegExp][] = [
  ['the name of an errno', /\bE(?:[A-Z]{3,}|_[A-Z]+)\b/],
  ['an id of 64 digits', /(?<![\w:@])[0-9a-f]{64}/],
  ['a plural of one', /(?<![\d.:-])1 (?:pods|objects|containers|images|files|times|records|layers|names)\b/],
  ["the parser's own words", /^error:/m],
  ['a path of our own sources', /\.[jt]s:\d+/],
];

function assertWords(text: string): void {
  for (const [what, pattern] of WRONG) assert.doesNotMatch(text, pattern, `${what} in: ${text}`);
}

/** Runs a command, which must fail with a single line that matches. */
async function refuses(args: string[], expected: RegExp): Promise<void> {
  const { code, err } = await place.call(...args);
  assert.notEqual(code, 0, args.join(' '));
  assert.match(err, expected, args.join(' '));
  assertWords(err);
  assert.equal(err.trim().split('\n').length, 1, `one error: ${err}`);
}

test('errors without a node', async () => {
  await refuses(['ps'], /no node is running .*podwright run FILE/);
  await refuses(['exec', 'web', '-c', 'main', '--', 'true'], /no node is running .*podwright run FILE/);
  await refuses(['run', '/no/such.yaml'], /\/no\/such\.yaml: no such file or directory/);
  await refuses(['--config', '/no/such.toml', 'ps'], /read \/no\/such\.toml: no such file or directory/);
  await refuses(['--config', place.path('input'), 'ps'], /read .*input: it is a directory/);
  await refuses(['pull', '--authfile', '/no/such.json', 'a'], /docker configuration \/no\/such\.json: no such file/);
  await refuses(['help', 'nothing'], /no such command or topic; the topics are .*manifests/);
});

test('errors with a node', async () => {
  daemon = await place.startDaemon();
  await place.loadImage();
  const port = await freePort();
  await refuses(['load', '/no/such.tar'], /load \/no\/such\.tar: no such file or directory/);
  await refuses(['load', place.path('input/empty')], /load .*empty: .*index\.json does not exist/);
  await refuses(['pull', `127.0.0.1:${port}/a:1`], /connect to .*connection refused; is the registry running/);
  await refuses(['pull', 'no-such-host.invalid/a:1'], /no-such-host\.invalid.*(no such host|could not be looked up)/);
  await refuses(['save', 'no/such:1', '-o', '/tmp/x.tar'], /no\/such:1/);
  await refuses(['rmi', 'no/such:1'], /no such image: no\/such:1; 'podwright images'/);
  await refuses(['logs', 'missing'], /missing/);
  await refuses(['exec', 'missing', '--', 'true'], /missing/);
  await refuses(['describe', 'missing'], /missing/);
  await refuses(['trace', 'missing'], /missing/);
  await refuses(['delete', 'missing'], /missing/);
});

test('errors for pods that fail to start', async () => {
  const broken: Record<string, (text: string) => string> = {
    command: (text) => text.replace(/command: .*/, 'command: [/bin/no-such]'),
    directory: (text) => `${text}    workingDir: /etc/passwd\n`,
    unpulled: (text) => text.replace(/image: .*/, 'image: 127.0.0.1:1/nothing:1'),
    map: (text) => `${text}    envFrom: [{configMapRef: {name: no-such-map}}]\n`,
    user: (text) => `${text}    securityContext: {runAsNonRoot: true}\n`,
    mount: (text) =>
      `${text}    volumeMounts: [{name: v, mountPath: /v, subPath: no/such}]\n  volumes: [{name: v, hostPath: {path: /no/such/path}}]\n`,
  };
  const text = Object.entries(broken)
    .map(([name, spoil]) => spoil(podManifest(name, forever)))
    .join('---\n');
  await place.ok('apply', place.file('broken.yaml', text));
  const troubled = async () =>
    (await place.json<{ items: { type: string; involvedObject: { name: string } }[] }>('events')).items
      .filter(({ type }) => type === 'Warning')
      .map(({ involvedObject }) => involvedObject.name);
  await place.until(async () => new Set(await troubled()).size === Object.keys(broken).length);
  assertWords(await place.ok('ps'));
  const warnings = (await place.ok('events')).split('\n').filter((line) => line.includes('Warning'));
  for (const line of warnings) assertWords(line);
  for (const name of Object.keys(broken)) {
    const lines = (await place.ok('describe', name))
      .split('\n')
      .filter((line) => /reason|message|Warning|Waiting|Terminated/i.test(line));
    for (const line of lines) assertWords(line.replace(/sha256:[0-9a-f]{64}|containerd?ID.*/gi, ''));
  }
  await place.ok('delete', ...Object.keys(broken), '--force');
});

test('usage errors', async () => {
  for (const args of [
    ['runn'],
    ['run'],
    ['ps', '--no-such'],
    ['logs', '--tail', 'x', 'a'],
    ['completion', 'tcsh'],
    ['get'],
  ])
    await refuses(args, /^podwright: /);
});

test('a failed or partial write of the output is an error', () => {
  const shell = (line: string) => spawnSync('bash', ['-c', line, 'bash', ...place.command()], { encoding: 'utf8' });
  const check = (line: string, why: string) => {
    const { status, stderr } = shell(line);
    assert.equal(status, 1, line);
    assert.equal(stderr, `podwright: write the ${why}\n`, line);
  };
  check('"$@" help files >/dev/full', 'output: no space left on device');
  check('"$@" --help >/dev/full', 'output: no space left on device');
  // a file size limit of 1 KiB (`ulimit -f`), so only the rest of the output fails
  check(`trap '' XFSZ; ulimit -f 1; "$@" help manifests >${place.path('input/part')}`, 'output: file too large');
  assert.equal(shell('"$@" help files | head -c 1').status, 0);
});

test('sentences are wrapped on terminals', () => {
  const line = `stty cols 50; ${place.command('run', 'a-file-with-a-name', 'that-is-not/there.yaml').join(' ')}`;
  const { stdout } = spawnSync('script', ['-qfec', line, '/dev/null'], { encoding: 'utf8' });
  const lines = stdout.trim().split(/\r?\n/);
  assert.deepEqual(lines, [
    'podwright: read a-file-with-a-name: no such file',
    'or directory',
    'read that-is-not/there.yaml: no such file or',
    'directory',
  ]);
});

test('colors are used only on terminals that support them', () => {
  const report = (env: NodeJS.ProcessEnv, command: string[]) =>
    spawnSync(command[0]!, command.slice(1), { encoding: 'utf8', env: { PATH: process.env.PATH, ...env } }).stdout;
  const doctor = place.command('doctor');
  const onTerminal = ['script', '-qfec', doctor.join(' '), '/dev/null'];
  assert.match(report({ TERM: 'xterm-256color' }, onTerminal), /\x1b\[32mok/);
  for (const env of [
    { TERM: 'dumb' },
    { TERM: 'xterm-256color', NO_COLOR: '1' },
    { TERM: 'xterm-256color', CLICOLOR: '0' },
  ])
    assert.doesNotMatch(report(env, onTerminal), /\x1b/);
  for (const env of [{ FORCE_COLOR: '1' }, { CLICOLOR_FORCE: '1' }]) assert.match(report(env, doctor), /\x1b\[32mok/);
  assert.doesNotMatch(report({ TERM: 'xterm-256color' }, doctor), /\x1b/);
  const findings = JSON.parse(report({}, [...doctor, '-o', 'json'])) as { what: string }[];
  for (const what of ['configuration', 'registries', 'seccomp files', 'network'])
    assert.ok(
      findings.some((finding) => finding.what === what),
      what,
    );
});
