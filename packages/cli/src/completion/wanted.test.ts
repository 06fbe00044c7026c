import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindOfWord } from '../client/object-names.ts';
import { createProgram } from '../program.ts';
import { readQuestion } from './wanted.ts';

const program = createProgram(() => undefined);

/** Completes the last of these words. Returns the offered completions and the parsed command line. */
function complete(...words: string[]) {
  const { wanted, begun, before, options } = readQuestion(program, words);
  const shown = wanted.kind === 'words' ? wanted.words.map(({ word }) => word) : wanted;
  return { shown, begun, before, options: Object.fromEntries(options) };
}

test('all visible commands and all of their options are offered', () => {
  const visible = program.createHelp().visibleCommands(program);
  assert.deepEqual(
    complete('').shown,
    visible.map((command) => command.name()),
  );
  assert.ok(visible.length > 15 && !visible.some((command) => command.name().startsWith('_')));
  for (const command of visible) {
    const offered = complete(command.name(), '--').shown;
    const options = [...command.options, ...program.options].map(({ long }) => long);
    assert.deepEqual([...(offered as string[])].sort(), [...new Set([...options, '--help'])].sort());
  }
  assert.deepEqual(complete('runtime', '').shown, ['plugins']);
});

test('a position or option determines what is completed', () => {
  const table: [string[], object][] = [
    [['logs', ''], { kind: 'pod' }],
    [['delete', 'a', ''], { kind: 'pod' }],
    [['exec', 'web', '-c', ''], { kind: 'container', pod: 'web' }],
    [['exec', '-it', 'web', '--container', ''], { kind: 'container', pod: 'web' }],
    [['debug', 'web', '--target', ''], { kind: 'container', pod: 'web' }],
    [['logs', '-n', ''], { kind: 'namespace' }],
    [['rmi', 'a', ''], { kind: 'image' }],
    [['run', '--once', ''], { kind: 'file' }],
    [['--config', ''], { kind: 'file' }],
    [['--root', ''], { kind: 'directory' }],
    [['ps', '--root', ''], { kind: 'directory' }],
    [['exec', 'web', '--', ''], { kind: 'nothing' }],
    [['logs', '--tail', ''], { kind: 'nothing' }],
    [['run', '--dry-run', ''], { kind: 'file' }],
    [['cp', 'web:/etc/hosts', ''], { kind: 'copied' }],
    [['get', 'configmaps', 'a', ''], { kind: 'object', of: kindOfWord('cm') }],
    [['delete', 'secret', ''], { kind: 'object', of: kindOfWord('secrets') }],
    [
      ['top', ''],
      ['pods', 'nodes'],
    ],
    [['get', 'deploy', ''], { kind: 'typed', type: 'deploy' }],
    [['logs', 'deploy/w'], { kind: 'typed', type: 'deploy' }],
    [['scale', 'sts/'], { kind: 'typed', type: 'sts' }],
    [
      ['rollout', 'status', ''],
      ['deployments', 'statefulsets', 'daemonsets', 'replicasets'],
    ],
    [['rollout', 'undo', 'deploy', ''], { kind: 'typed', type: 'deploy' }],
    [['get', 'pod/web', ''], { kind: 'nothing' }],
    [['version', ''], { kind: 'nothing' }],
    [['no-such-command', ''], { kind: 'nothing' }],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [
      ['kubelet', '--cri-api-version', ''],
      ['auto', 'v1', 'v1alpha2'],
    ],
  ];
  for (const [words, expected] of table) assert.deepEqual(complete(...words).shown, expected, words.join(' '));
  const formats = complete('ps', '-o', '').shown as string[];
  for (const format of ['json', 'yaml', 'wide']) assert.ok(formats.includes(format));
  const topics = complete('help', '').shown as string[];
  for (const topic of ['manifests', 'exit-codes', 'settings', 'run']) assert.ok(topics.includes(topic));
});

test('objects are completed as TYPE/NAME if the command accepts types', () => {
  assert.ok((complete('get', '').shown as string[]).includes('configmaps'));
  const named = complete('describe', 'web', 'cm/co');
  assert.deepEqual(named.shown, { kind: 'object', of: kindOfWord('cm') });
  assert.deepEqual([named.begun, named.before], ['co', 'cm/']);
  assert.deepEqual(complete('logs', 'pod/w').shown, { kind: 'object', of: kindOfWord('pod') });
  assert.deepEqual(complete('logs', 'cm/w').shown, { kind: 'pod' });
});

test('options that select a node or a namespace are recognized at any position', () => {
  const question = complete('--root', '/r', 'logs', '-n=team', '--state=/s', '-fcmain', '');
  assert.deepEqual(question.options, { root: '/r', namespace: 'team', state: '/s', container: 'main' });
  assert.deepEqual(question.shown, { kind: 'pod' });
});

test('a namespace before the verb is recognized and not mistaken for the verb', () => {
  const verbs = complete('').shown;
  for (const words of [['-n', 'team'], ['-nteam'], ['--namespace', 'team'], ['--namespace=team']]) {
    assert.deepEqual(complete(...words, '').shown, verbs);
    assert.deepEqual(complete(...words, 'logs', '').options, { namespace: 'team' });
  }
  assert.deepEqual(complete('-n', '').shown, { kind: 'namespace' });
  assert.deepEqual(complete('--namespace=te').shown, { kind: 'namespace' });
});

test('the value after an equals sign is completed separately', () => {
  const { shown, begun, before } = complete('logs', '--namespace=te');
  assert.deepEqual([shown, begun, before], [{ kind: 'namespace' }, 'te', '--namespace=']);
});
