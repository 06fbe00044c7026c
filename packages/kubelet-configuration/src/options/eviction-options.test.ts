import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_EVICTION, thresholdSettings } from './eviction-options.ts';

test('a standalone node has lower default disk thresholds than a cluster, and explicit ones apply to both', () => {
  assert.equal(thresholdSettings(DEFAULT_EVICTION, true).hard['imagefs.available'], '1%');
  assert.equal(thresholdSettings(DEFAULT_EVICTION, false).hard['imagefs.available'], '15%');
  const hard = { 'nodefs.available': '3%' };
  for (const isStandalone of [true, false])
    assert.deepEqual(thresholdSettings({ ...DEFAULT_EVICTION, hard }, isStandalone).hard, hard);
});
