import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logQuery } from './logs.ts';

test('--since 0, --limit-bytes 0 and --tail -1 select the whole log, as in kubectl', () => {
  const query = (options: Parameters<typeof logQuery>[1]) => logQuery({ container: 'c' }, options);
  assert.equal(query({ since: 0 }).sinceSeconds, undefined);
  assert.equal(query({ since: 200 }).sinceSeconds, 1);
  assert.equal(query({ since: 61_500 }).sinceSeconds, 62);
  assert.equal(query({ limitBytes: 0 }).limitBytes, undefined);
  assert.equal(query({ limitBytes: 9 }).limitBytes, 9);
  assert.equal(query({ tail: -1 }).tailLines, undefined);
  assert.equal(query({ tail: 0 }).tailLines, 0);
  assert.equal(query({ selector: 'a=b' }).tailLines, 10);
});
