import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { isSignedBy, parseBootstrapToken } from './bootstrap-token.ts';

const token = { id: 'abcdef', secret: '0123456789abcdef' };

/** Signs content with a bootstrap token. Returns a detached JWS in the format of go-jose. */
function sign(content: string, { id, secret }: typeof token, head: object = { alg: 'HS256', kid: id }): string {
  const encoded = Buffer.from(JSON.stringify(head)).toString('base64url');
  const payload = Buffer.from(content).toString('base64url');
  return `${encoded}..${createHmac('sha256', secret).update(`${encoded}.${payload}`).digest('base64url')}`;
}

test('a token has two parts, and the error for an invalid one does not reveal it', () => {
  assert.deepEqual(parseBootstrapToken('abcdef.0123456789abcdef'), token);
  for (const wrong of ['', 'abcdef', 'ABCDEF.0123456789abcdef', 'abcdef.0123456789abcdefg', ' abcdef.0123456789abcdef'])
    assert.throws(
      () => parseBootstrapToken(wrong),
      (error: Error) =>
        /must be six characters/.test(error.message) && (wrong === '' || !error.message.includes(wrong)),
    );
});

test('signatures by kubeadm are accepted', () => {
  // test vector from jws_test.go (cluster-bootstrap, token/jws)
  const jws = 'eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8';
  assert.ok(
    isSignedBy(
      { id: 'joshua', secret: 'my voice is my passcode' },
      jws,
      'Hello from the other side. I must have called a thousand times.',
    ),
  );
});

test('a signature is valid for only one token and content', () => {
  const content = 'clusters: []\n';
  const check = (jws: string, expected: boolean) => assert.equal(isSignedBy(token, jws, content), expected, jws);
  const jws = sign(content, token);
  check(jws, true);
  check(sign(`${content} `, token), false);
  check(sign(content, { ...token, secret: '0123456789abcdee' }), false);
  check(sign(content, token, { alg: 'none', kid: 'abcdef' }), false);
  check(sign(content, token, { alg: 'HS256', kid: 'other1' }), false);
  check(jws.replace('..', `.${Buffer.from(content).toString('base64url')}.`), false);
  check(jws.slice(0, -1), false);
  check('', false);
  check('..', false);
  check('bm90IGpzb24..x', false);
  check(`${jws}.x`, false);
});
