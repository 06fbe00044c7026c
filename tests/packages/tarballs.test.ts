/** The contents and dependencies of the published packages' tarballs. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { importedPackages } from '../../scripts/packages/emit.ts';
import { publintFindings, typeFindings } from '../../scripts/packages/lint.ts';
import { pack } from '../../scripts/packages/stage.ts';
import { root, workspacePackages } from '../../scripts/packages/workspace.ts';
import { PackedPackages } from './packed.fixture.ts';

const packed = new PackedPackages();
after(() => packed[Symbol.dispose]());

const filesOf = (name: string): string[] =>
  execFileSync('tar', ['-tzf', packed.tarball(name)], { encoding: 'utf8' })
    .trimEnd()
    .split('\n')
    .sort();
const textsOf = (name: string, pattern: string): string[] =>
  globSync(pattern, { cwd: packed.staged(name) }).map((path) => readFileSync(join(packed.staged(name), path), 'utf8'));

/** Contract suites, called by implementations outside of Podwright. */
const SUITES = ['package/dist/snapshots/snapshotter.suite.d.ts', 'package/dist/snapshots/snapshotter.suite.js'];

for (const name of packed.names) {
  test(`the tarball of ${name} has JavaScript with declarations, a README and the licence, and no tests`, () => {
    const files = filesOf(name);
    const [code, others] = [files.filter((file) => file.startsWith('package/dist/')), files];
    assert.deepEqual(
      others.filter((file) => !code.includes(file) && file !== 'package/README.md'),
      ['package/LICENSE', 'package/package.json'],
    );
    const scripts = code.filter((file) => file.endsWith('.js'));
    assert.deepEqual(code, [...scripts, ...scripts.map((file) => file.replace(/js$/, 'd.ts'))].sort());
    const tests = code.filter((file) => /\.(test|fixture|suite)\./.test(file));
    assert.deepEqual(tests, name === 'images' ? SUITES : []);
  });

  test(`the package.json of ${name} has a licence, keywords, and every package that its code and declarations import`, () => {
    const { license, keywords, dependencies = {}, peerDependencies, engines } = packed.manifest(name);
    assert.equal(license, 'Apache-2.0');
    assert.ok((keywords ?? []).length > 0);
    assert.deepEqual(engines, { node: '>=22.22' });
    assert.equal(peerDependencies, undefined);
    const own = `@podwright/${name}`;
    const imported = importedPackages(textsOf(name, 'dist/**/*.{js,d.ts}').join('\n'));
    const missing = imported.filter((one) => one !== own && !builtinModules.includes(one) && !(one in dependencies));
    assert.deepEqual([...new Set(missing)], []);
  });

  test(`the JavaScript of ${name} runs on Node.js 22, which has no \`using\``, () => {
    const using = textsOf(name, 'dist/**/*.js').flatMap((text) => text.match(/^\s*(?:await )?using \w+ = .*/gm) ?? []);
    assert.deepEqual(using, []);
  });
}

test('a published package depends only on published packages', () => {
  const hidden = workspacePackages().filter(({ short }) => !packed.names.includes(short));
  assert.ok(hidden.length > 0);
  const wrong = packed.names.flatMap((name) =>
    hidden
      .filter(({ manifest }) => packed.closureOf(name).includes(manifest.name))
      .map((one) => `${name}: ${one.short}`),
  );
  assert.deepEqual(wrong, []);
});

/** Packages with native code, and those of our packages that cannot work without them. */
const NATIVE: Record<string, string[]> = {
  'better-sqlite3': ['images', 'metadata'],
  koffi: ['images', 'shim', 'system'],
};

test('only packages that need native code depend on it', () => {
  const installed = globSync('node_modules/{*,@*/*}/package.json', { cwd: root }).map((path) => path.slice(13, -13));
  const isNative = (name: string) => globSync(`node_modules/${name}/**/*.node`, { cwd: root }).length > 0;
  const needed = installed.filter((one) => packed.names.some((name) => packed.closureOf(name).includes(one)));
  const native = needed.filter((name) => !name.startsWith('@podwright/') && isNative(name));
  assert.deepEqual(
    native.filter((name) => !(name in NATIVE) && !name.startsWith('@koromix/koffi-')),
    [],
  );
  for (const [dependency, owners] of Object.entries(NATIVE))
    assert.deepEqual(
      packed.names.filter((name) => packed.closureOf(name).includes(dependency)),
      owners,
    );
});

test('publint and Are The Types Wrong find no problems, except in a broken package', async () => {
  assert.deepEqual(await publintFindings(packed.staged('base')), []);
  assert.deepEqual(await typeFindings(packed.tarball('base')), []);
  const broken = join(packed.directory, '.broken');
  cpSync(packed.staged('base'), broken, { recursive: true });
  const manifest = packed.manifest('base');
  const entry = { types: './dist/index.d.ts', default: './dist/missing.js' };
  writeFileSync(join(broken, 'package.json'), JSON.stringify({ ...manifest, exports: { '.': entry } }));
  assert.match((await publintFindings(broken)).join('\n'), /missing\.js/);
  const untyped = { default: './dist/index.js' };
  writeFileSync(
    join(broken, 'package.json'),
    JSON.stringify({ ...manifest, exports: { '.': untyped, './x': './x.js' } }),
  );
  const [tarball] = pack([broken], join(packed.directory, '.broken-tarballs'));
  assert.match((await typeFindings(tarball!)).join('\n'), /NoResolution/);
});

test('the same sources make the same bytes', () => {
  const [again] = pack([packed.staged('base')], join(packed.directory, '.again'));
  assert.ok(readFileSync(again!).equals(readFileSync(packed.tarball('base'))));
});
