import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchesPattern, matchesPod } from './pattern.ts';

test('an asterisk matches any characters, and nothing else is special', () => {
  const check = (pattern: string, text: string, expected: boolean) =>
    assert.equal(matchesPattern(pattern, text), expected, `${pattern} ${text}`);
  check('RunPodSandbox', 'RunPodSandbox', true);
  check('RunPodSandbox', 'RunPodSandboxes', false);
  check('*Container*', 'ListContainers', true);
  check('*', '', true);
  check('a.c', 'abc', false);
  check('a[b]', 'a[b]', true);
});

test('a pod is matched by its name, optionally with its namespace', () => {
  const web = { namespace: 'shop', pod: 'web-1' };
  const check = (pattern: string, expected: boolean) => assert.equal(matchesPod(pattern, web), expected, pattern);
  check('web-1', true);
  check('web-*', true);
  check('shop/*', true);
  check('other/web-1', false);
  assert.equal(matchesPod('*', undefined), false);
});
