import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VERSION } from '@podwright/base';
import { versionSkew } from './version-skew.ts';

test('a skew names both versions, or both builds of one version, and the command that resolves it', () => {
  const advice = "'podwright upgrade' restarts the node";
  assert.equal(versionSkew({ version: VERSION }), undefined);
  assert.equal(versionSkew({ version: VERSION, build: '' }), undefined);
  assert.equal(
    versionSkew({ version: '0.0.9' }),
    `the node runs podwright 0.0.9, this command is ${VERSION}: ${advice}`,
  );
  assert.equal(
    versionSkew({ version: VERSION, build: 'abc' }),
    `the node runs build abc of podwright ${VERSION}, this command is build unknown: ${advice}`,
  );
});
