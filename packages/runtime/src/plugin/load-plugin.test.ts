import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { RuntimeOptions } from '../options.ts';
import { loadPlugins } from './load-plugin.ts';
import { PluginGraph } from './plugin-graph.ts';
import type { RuntimePluginTypes } from './runtime-plugins.ts';

const directory = mkdtempSync(join(tmpdir(), 'podwright-plugins-'));
after(() => rmSync(directory, { recursive: true }));
const from = join(directory, 'config.toml');

let modules = 0;
/** Writes a module to the configuration's directory, and returns the path used to refer to it in the configuration. */
function module(text: string): string {
  const name = `plugin-${++modules}.mjs`;
  writeFileSync(join(directory, name), text);
  return `./${name}`;
}

function load(specifier: string, settings: Record<string, unknown> = {}) {
  const plugin = { id: 'mine', package: specifier, from, settings };
  const directories = { root: join(directory, 'root'), state: join(directory, 'state') };
  return loadPlugins({ plugins: [plugin], ...directories, logger: silentLogger } as unknown as RuntimeOptions);
}

const value = (rest: string) => module(`export default { apiVersion: 1, type: 'snapshotter', ${rest} };`);
/** Source text of an `init` that works for any plugin type: it returns a proxy that has every method except `then`. */
const instance = `init: ({ id, ...rest }) => new Proxy({ name: id, rest }, { get: (own, key) => own[key] ?? (key === 'then' ? undefined : () => {}) })`;

const wrong: [string, string, RegExp][] = [
  ['a missing module', './nothing.mjs', /^load plugin mine of .*config\.toml: Cannot find module/],
  ['a missing package', 'no-such-package', /Cannot find module 'no-such-package'$/],
  ['a module that throws', module('throw new Error("broken")'), /broken$/],
  ['a module with a syntax error', module('}'), /Unexpected token/],
  ['a module without a default export', module('export const x = 1;'), /no plugin as its default export$/],
  [
    'a plugin for another API',
    module(`export default { apiVersion: 2, type: 'snapshotter', init() {} };`),
    /version 2 of/,
  ],
  [
    'a plugin of another type',
    module(`export default { apiVersion: 1, type: 'network', init() {} };`),
    /type is "network"/,
  ],
  ['a plugin without init', value('init: 3'), /no function init$/],
];
for (const [what, specifier, message] of wrong) {
  test(`${what} is refused with the plugin's name and file`, async () => {
    await assert.rejects(load(specifier), { code: 'invalid_argument', message });
  });
}

/** A schema that requires a numeric `size`, and returns it incremented. */
const schema = `settings: { '~standard': { version: 1, vendor: 'test', validate: async (input) =>
  typeof input.size === 'number' ? { value: { size: input.size + 1 } }
    : { issues: [{ message: 'must be a number', path: ['size'] }, { message: 'odd', path: [{ key: 'a' }, 0] }] } } }`;

test("settings are validated by the plugin's schema, and the error names the key", async () => {
  const specifier = value(`${schema}, ${instance}`);
  const message = /settings\.size: must be a number; settings\.a\.0: odd$/;
  await assert.rejects(load(specifier, { size: 'x' }), { code: 'invalid_argument', message });
  await assert.rejects(load(value(instance), { size: 1 }), { message: /settings\.size: it takes no settings$/ });
});

test('a plugin gets its id, its settings and its own directories', async () => {
  const plugins = await load(value(`${schema}, ${instance}`), { size: 1 });
  const graph = await PluginGraph.start<RuntimePluginTypes>(plugins, { needed: ['snapshotter/mine'] });
  const { name, rest } = graph.get('snapshotter', 'mine') as unknown as { name: string; rest: Record<string, unknown> };
  assert.equal(name, 'mine');
  assert.deepEqual(rest.settings, { size: 2 });
  for (const directory of [rest.root, rest.state]) assert.ok(existsSync(String(directory)));
  assert.equal(rest.root, join(directory, 'root/plugins/mine'));
});

test('a plugin is skipped on failed_precondition, and fails if its instance has a wrong name or lacks methods', async () => {
  const skipped = value(`init() { throw Object.assign(new Error('no such disk'), { code: 'failed_precondition' }); }`);
  const misnamed = value(`init: () => ({ name: 'other' })`);
  const poor = value(`init: ({ id }) => ({ name: id, prepare() {}, view() {} })`);
  const states = async (specifier: string) =>
    (await PluginGraph.start<RuntimePluginTypes>(await load(specifier), { needed: [] })).states();
  assert.deepEqual(
    (await states(skipped)).map(({ state, note }) => [state, note]),
    [['skip', 'no such disk']],
  );
  const [state] = await states(misnamed);
  assert.equal(state?.state, 'error');
  assert.match(state.note, /name is "other".*"mine"/);
  assert.match((await states(poor))[0]!.note, /it lacks methods of a snapshotter: commit, mounts, .*close$/);
  assert.match((await states(value('init: async () => undefined')))[0]!.note, /returned no instance/);
});

test('a package is resolved relative to the configuration’s directory', async () => {
  const home = join(directory, 'node_modules/of-mine');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'package.json'), '{"type": "module", "exports": "./main.js"}');
  writeFileSync(join(home, 'main.js'), `export default { apiVersion: 1, type: 'task-runtime', ${instance} };`);
  assert.deepEqual(
    (await load('of-mine')).map(({ type, id }) => `${type}/${id}`),
    ['task-runtime/mine'],
  );
});
