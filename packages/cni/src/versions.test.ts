import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareVersions, selectVersion } from './versions.ts';

test('versions are compared numerically', () => {
  assert.ok(compareVersions('0.10.0', '0.4.0') > 0);
  assert.ok(compareVersions('0.3', '0.3.1') < 0);
  assert.equal(compareVersions('1.0', '1.0.0'), 0);
});

test('the highest version supported by all plugins is selected', () => {
  const check = (candidates: string[], plugins: string[][], expected: string | undefined) =>
    assert.equal(
      selectVersion(
        candidates,
        plugins.map((versions) => new Set(versions)),
      ),
      expected,
    );
  check(['0.4.0', '1.1.0', '1.0.0'], [], '1.1.0');
  check(
    ['0.4.0', '1.1.0', '1.0.0'],
    [
      ['0.4.0', '1.0.0'],
      ['1.0.0', '1.1.0'],
    ],
    '1.0.0',
  );
  check(['1.1.0'], [['0.4.0']], '1.1.0');
  check(['2.0.0', '1.0.0'], [], '1.0.0');
  check(['2.0.0'], [], undefined);
});
