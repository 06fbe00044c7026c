import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import type { AnyPlugin, Plugin, PluginName, Requirement } from './plugin.ts';
import { orderPlugins, PluginGraph } from './plugin-graph.ts';

type Types = { letter: string; count: number };

/** A plugin `letter/ID` whose instance is its ID. `calls` records when the plugin is started and closed. */
function letter(id: string, requires: Requirement<Types>[] = [], calls: string[] = []): Plugin<Types, 'letter'> {
  const init = () => {
    calls.push(`start ${id}`);
    return id;
  };
  return { type: 'letter', id, requires, init, close: (instance) => void calls.push(`close ${instance}`) };
}

function failing(id: string, error: Error): Plugin<Types, 'letter'> {
  const init = () => {
    throw error;
  };
  return { type: 'letter', id, requires: [], init };
}

const start = (plugins: AnyPlugin<Types>[], ...needed: PluginName<Types>[]) => PluginGraph.start(plugins, { needed });
const lacking = new PodwrightError('failed_precondition', 'the kernel has none');

test('plugins start after their dependencies, otherwise in list order, and close in reverse', async () => {
  const calls: string[] = [];
  const plugins = [letter('a', ['letter/c', 'count'], calls), letter('b', [], calls), letter('c', ['letter/d'], calls)];
  const count: AnyPlugin<Types> = { type: 'count', id: 'one', requires: ['letter/d'], init: () => 1 };
  const graph = await start([...plugins, letter('d', [], calls), count]);
  assert.deepEqual(calls, ['start d', 'start c', 'start a', 'start b']);
  assert.deepEqual(
    graph.states().map(({ id }) => id),
    ['d', 'c', 'one', 'a', 'b'],
  );
  calls.length = 0;
  assert.deepEqual(await graph.close(), []);
  assert.deepEqual(calls, ['close b', 'close a', 'close c', 'close d']);
  await graph.close();
  assert.equal(calls.length, 4, 'each is closed once');
});

test('a plugin gets only the instances it depends on', async () => {
  const seen: unknown[] = [];
  const counting: Plugin<Types, 'count'> = {
    type: 'count',
    id: 'all',
    requires: ['letter', 'letter/a'],
    init(context) {
      seen.push(context.get('letter', 'a'), [...context.all('letter').keys()]);
      return context.get('letter', 'b').length;
    },
  };
  const graph = await start([letter('b'), failing('lost', lacking), counting, letter('a')]);
  assert.deepEqual(seen, ['a', ['b', 'a']]);
  const state = graph.states().find(({ id }) => id === 'all');
  assert.deepEqual([state?.state, state?.note], ['error', 'plugin count/all uses letter/b without requiring it']);
});

test('a plugin unavailable on this host is skipped with the reason, and so are its dependents', async () => {
  const graph = await start([
    failing('a', lacking),
    letter('b', ['letter/a']),
    letter('c', ['letter/b']),
    failing('d', new Error('a defect')),
    { type: 'count', id: 'e', requires: ['letter'], init: ({ all }) => all('letter').size },
  ]);
  assert.deepEqual(
    graph.states().map(({ id, state, note }) => [id, state, note]),
    [
      ['a', 'skip', 'the kernel has none'],
      ['b', 'skip', 'plugin letter/a: the kernel has none'],
      ['c', 'skip', 'plugin letter/b: plugin letter/a: the kernel has none'],
      ['d', 'error', 'a defect'],
      ['e', 'ok', ''],
    ],
  );
  assert.throws(() => graph.get('letter', 'c'), { code: 'failed_precondition', message: /the kernel has none/ });
  assert.throws(() => graph.get('letter', 'missing'), { code: 'not_found' });
  assert.equal(graph.get('count', 'e'), 0);
});

test('if a needed plugin fails, the start fails and the started plugins are closed', async () => {
  const calls: string[] = [];
  const plugins = [letter('a', [], calls), failing('b', lacking)];
  await assert.rejects(start(plugins, 'letter/b'), { code: 'failed_precondition', message: /the kernel has none/ });
  assert.deepEqual(calls, ['start a', 'close a']);
});

test('if closing a plugin fails, the others are still closed', async () => {
  const calls: string[] = [];
  const stuck: Plugin<Types, 'letter'> = { ...letter('stuck'), close: () => Promise.reject(new Error('no')) };
  const graph = await start([letter('a', [], calls), stuck, letter('b', [], calls)]);
  const failures = await graph.close();
  assert.deepEqual(
    failures.map(({ step }) => step),
    ['close plugin letter/stuck'],
  );
  assert.deepEqual(calls.slice(2), ['close b', 'close a']);
});

test('a plugin may note how it works', async () => {
  const init: Plugin<Types, 'letter'>['init'] = ({ note }) => {
    note('with two of them');
    return 'a';
  };
  const [state] = (await start([{ type: 'letter', id: 'a', requires: [], init }])).states();
  assert.deepEqual(state, { type: 'letter', id: 'a', requires: [], state: 'ok', note: 'with two of them' });
});

const wrong: [string, AnyPlugin<Types>[], RegExp][] = [
  ['a cycle', [letter('x', ['letter/a']), letter('a', ['letter/b']), letter('b', ['letter'])], /letter\/a → letter\/b/],
  ['a plugin that requires itself', [letter('a', ['letter/a'])], /letter\/a → letter\/a$/],
  [
    'a missing requirement',
    [letter('x', ['letter/a']), letter('a', ['letter/z'])],
    /letter\/x → letter\/a → letter\/z: there is no letter\/z; there is letter\/x, letter\/a/,
  ],
  ['a duplicate id', [letter('a'), letter('a')], /two letter\/a/],
];
for (const [what, plugins, message] of wrong) {
  test(`${what} is refused, and the error names the plugins`, () => {
    assert.throws(() => orderPlugins(plugins), { code: 'invalid_argument', message });
  });
}
