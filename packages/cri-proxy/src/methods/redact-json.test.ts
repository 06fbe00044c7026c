import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactJsonText } from './redact-json.ts';

test('environment variables and credentials in JSON are redacted, in every form written by runtimes and kubectl', () => {
  const check = (value: unknown, expected: unknown) =>
    assert.equal(redactJsonText(JSON.stringify(value)), JSON.stringify(expected));
  check({ env: [{ name: 'A', value: 's' }] }, { env: [{ name: 'A', value: '(redacted)' }] });
  const reference = { name: 'A', valueFrom: { secretKeyRef: { name: 'x' } } };
  check({ env: [reference] }, { env: [reference] });
  check({ config: { envs: [{ key: 'A', value: 's' }] } }, { config: { envs: [{ key: 'A', value: '(redacted)' }] } });
  check({ process: { env: ['A=s', 'B=t=u'] } }, { process: { env: ['A=(redacted)', 'B=(redacted)'] } });
  check({ Env: { A: 's' } }, { Env: { A: '(redacted)' } });
  check([{ auth: 'c2VjcmV0', username: 'me' }], [{ auth: '(redacted)', username: 'me' }]);
  check({ identitytoken: 't', password: '' }, { identitytoken: '(redacted)', password: '' });
  check({ inner: '{"env":["A=s"]}' }, { inner: '{"env":["A=(redacted)"]}' });
  check({ envoy: 'x', environment: 'test' }, { envoy: 'x', environment: 'test' });
});

test('text that is not JSON is unchanged, unless it could be malformed JSON with secrets', () => {
  for (const text of ['', 'env', '{}', '[1]', 'password=x', '{"a": 1 }']) assert.equal(redactJsonText(text), text);
  assert.equal(redactJsonText('{"env":["A=s"'), '(redacted)');
  const deep = `${'['.repeat(70)}{"env":["A=s"]}${']'.repeat(70)}`;
  assert.doesNotMatch(redactJsonText(deep), /A=s/);
});
