/** The package.json of a published package, derived from that of the workspace. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publishedManifest } from '../../scripts/packages/manifest.ts';

test('a published package.json has compiled exports, the release version, the types it declares, and the repository', () => {
  const published = publishedManifest(
    {
      name: '@x/y',
      version: '1.2.3',
      scripts: { generate: 'buf generate' },
      exports: { '.': './src/index.ts', './testing': './src/testing/index.ts' },
      dependencies: { '@x/base': '1.2.3', ws: '^8.0.0', yaml: '^2.0.0' },
      devDependencies: { knip: '1' },
    },
    {
      version: '2.0.0',
      declared: ['ws', 'yaml'],
      workspace: {
        devDependencies: { '@types/ws': '^8.18.2', '@types/pako': '1' },
        repository: { type: 'git', url: 'https://example.com/y.git' },
      },
    },
  );
  assert.deepEqual(published, {
    name: '@x/y',
    version: '2.0.0',
    repository: { type: 'git', url: 'https://example.com/y.git', directory: 'packages/y' },
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './testing': { types: './dist/testing/index.d.ts', default: './dist/testing/index.js' },
      './package.json': './package.json',
    },
    files: ['dist'],
    dependencies: { '@types/node': '>=22', '@types/ws': '^8.18.2', '@x/base': '2.0.0', ws: '^8.0.0', yaml: '^2.0.0' },
  });
});
