/** Shell completion: the protocol of `podwright __complete`, and the scripts for bash and, if installed, zsh and fish. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, forever, NodePlace, podManifest } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.175.2.0/24');
  mkdirSync(place.path('input/bin'));
  const program = place.path('input/bin/podwright');
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${bundle.program} "$@"\n`);
  chmodSync(program, 0o755);
  mkdirSync(place.path('input/work/directory'), { recursive: true });
  writeFileSync(place.path('input/work/pod.yaml'), '');
  daemon = await place.startDaemon();
  await place.loadImage();
  const pods = ['web', 'worker'].map((name) => podManifest(name, forever));
  const elsewhere = podManifest('there', forever).replace('{name: there}', '{name: there, namespace: team}');
  await place.ok('apply', place.file('pods.yaml', [...pods, elsewhere].join('---\n')));
});
after(async () => {
  await place.ok('delete', 'web', 'worker', '--force');
  await place.ok('delete', 'there', '-n', 'team', '--force');
  daemon.child.kill('SIGTERM');
  await daemon.ended();
  await place.remove();
  bundle.remove();
});

/** Returns the flags that make `podwright` use the node of this test. */
const node = () => `--root ${place.path('root')} --state ${place.path('state')}`;
const environment = () => ({
  ...process.env,
  PATH: `${place.path('input/bin')}:${process.env.PATH}`,
  HOME: place.path('input'),
});
const shell = (program: string, ...args: string[]) =>
  execFileSync(program, args, { encoding: 'utf8', cwd: place.path('input/work'), env: environment() });

/** Returns the completions printed by `podwright __complete`. */
async function offered(...words: string[]): Promise<string[]> {
  const out = await place.ok(
    '__complete',
    '--',
    '--root',
    place.path('root'),
    '--state',
    place.path('state'),
    ...words,
  );
  return out.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0]!]));
}

/** Repeats `read` until it returns `expected`: a busy node may exceed the completion timeout. */
async function eventually<T>(read: () => T | Promise<T>, expected: T): Promise<void> {
  let last: T | undefined;
  const isEqual = async () => {
    last = await read();
    return isDeepStrictEqual(last, expected);
  };
  await place.until(isEqual, 20_000).catch(() => assert.deepEqual(last, expected));
}

const offers = (words: string[], expected: string[]) => eventually(() => offered(...words), expected);

test('names of pods, containers and images are completed from the node', async () => {
  await offers(['logs', 'w'], ['web', 'worker']);
  await offers(['delete', 'web', ''], ['worker']);
  await offers(['logs', '-n', 'team', ''], ['there']);
  await offers(['-n', 'team', 'logs', ''], ['there']);
  await offers(['-n', 'team', 'log'], ['logs']);
  await offers(['logs', '--namespace', ''], ['default', 'team']);
  await offers(['exec', 'web', '-c', ''], ['main']);
  await offers(['rmi', 'local'], [exampleImage]);
  await offers(['rmi', 'x'], []);
  await offers(['get', 'p'], ['pods', 'persistentvolumeclaims']);
  await offers(['get', 'pods', 'w'], ['web', 'worker']);
  await offers(['describe', 'pod/w'], ['pod/web', 'pod/worker']);
  await offers(['cp', 'wo'], [':files', 'worker:', ':nospace']);
  await offers(['cp', 'web:/etc'], []);
});

test('without a node there are no names and no errors', () => {
  const started = process.hrtime.bigint();
  const args = [bundle.program, '__complete', '--', '--state', '/no/such', 'logs', ''];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
  assert.ok(Number(process.hrtime.bigint() - started) / 1e6 < 5000);
  const wrong = spawnSync(process.execPath, [bundle.program, '__complete', '--', '--config', '/no/file', 'logs', ''], {
    encoding: 'utf8',
  });
  assert.deepEqual([wrong.status, wrong.stdout, wrong.stderr], [0, '', '']);
});

/** Returns bash's COMPREPLY for a command line with the cursor at its end. */
function bash(line: string): string[] {
  const script = `source <(podwright completion bash); COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}
    compopt() { echo "compopt $*"; }; _podwright; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return shell('bash', '--norc', '-c', script)
    .split('\n')
    .filter((word) => word !== '');
}

test('bash completes commands, names and files', async () => {
  await eventually(() => bash('podwright imag'), ['images']);
  await eventually(() => bash(`podwright ${node()} logs w`), ['web', 'worker']);
  await eventually(() => bash(`podwright ${node()} logs --namespace=t`), ['team']); // bash breaks words at =
  await eventually(() => bash(`podwright ${node()} rmi localhost/podwright/busybox:`), ['1']); // and at :
  await eventually(() => bash('podwright run p'), ['compopt -o default']);
  await eventually(() => bash('podwright logs --no-such='), []);
  const copied = ['compopt -o default', 'compopt -o nospace', 'directory/', 'pod.yaml', 'web:', 'worker:'];
  await eventually(() => bash(`podwright ${node()} cp web:/etc/hosts `).sort(), copied);
});

test('bash completes typed words', () => {
  // without `false`, the command would start a node with the host's default directories
  const typed = `source <(podwright completion bash)\nfalse && podwright ima\t --dig\t; echo ended\nexit\n`;
  const { stdout } = spawnSync('script', ['-qfec', 'stty cols 1000; bash --norc --noprofile -i', '/dev/null'], {
    ...{
      input: typed,
      encoding: 'utf8',
      cwd: place.path('input/work'),
      env: { ...environment(), TERM: 'dumb', PS1: '$ ' },
      timeout: 30_000,
    },
  });
  assert.match(stdout.replaceAll(/[\r\b]|\x1b\[[\d;?]*[a-zA-Z]/g, ''), /podwright images {1,2}--digests ; echo ended/);
});

const has = (program: string) => spawnSync(program, ['--version']).status === 0;

test('zsh and fish, if installed, complete commands and names', async () => {
  if (has('zsh')) {
    const script = `autoload -Uz compinit; compinit -u -D; source <(podwright completion zsh)
      _describe() { print -rl -- "\${(@P)2}"; }; words=(podwright ${node()} rmi ''); CURRENT=$#words; _podwright
      words=(podwright imag); CURRENT=2; _podwright`;
    const expected = [`${exampleImage.replace(':', '\\:')}:`, 'images:list images'];
    await eventually(() => shell('zsh', '-fc', script).trim().split('\n'), expected);
  }
  if (has('fish')) {
    const script = `podwright completion fish | source; complete -C "podwright ${node()} logs w"; complete -C "podwright imag"; complete -C "podwright run po"`;
    const lines = () => shell('fish', '--no-config', '-c', script).trim().split('\n');
    const expected = ['web', 'worker', 'images\tlist images', 'pod.yaml'];
    await eventually(() => lines().map((line) => line.trimEnd()), expected);
  }
  const scripts = ['bash', 'zsh', 'fish'].map(
    (name) => spawnSync(process.execPath, [bundle.program, 'completion', name], { encoding: 'utf8' }).stdout,
  );
  for (const script of scripts) assert.match(script, /__complete --/);
});
