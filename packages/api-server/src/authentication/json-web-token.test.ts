import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { isSignedWith, parseToken, signToken } from './json-web-token.ts';
import { newKey } from './test-cluster.fixture.ts';

const key = newKey();
const token = signToken({ iss: 'me' }, key);
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const [, payload = '', signature = ''] = token.split('.');

/** Whether a token is accepted if its header is replaced by `header` and it is signed by `sign`. */
function accepts(header: unknown, sign: (signed: string) => string): boolean {
  const signed = `${encoded(header)}.${payload}`;
  const parsed = parseToken(`${signed}.${sign(signed)}`);
  return parsed !== undefined && isSignedWith(parsed, key);
}

test('tokens of each algorithm are verified with their key, and no other', () => {
  for (const [kind, algorithm] of [
    ['P-256', 'ES256'],
    ['P-384', 'ES384'],
    ['P-521', 'ES512'],
    ['rsa', 'RS256'],
  ] as const) {
    const own = newKey(kind);
    const parsed = parseToken(signToken({ iss: 'me' }, own))!;
    assert.deepEqual(parsed.header, { alg: algorithm, kid: own.id });
    assert.deepEqual(parsed.claims, { iss: 'me' });
    assert.ok(isSignedWith(parsed, own), algorithm);
    assert.ok(!isSignedWith(parsed, newKey(kind)), algorithm);
  }
});

test('an unsigned token, or one with an HMAC of the public key, is rejected', () => {
  const publicPem = key.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const hmac = (signed: string) => createHmac('sha256', publicPem).update(signed).digest('base64url');
  for (const alg of ['none', 'None', 'NONE', '', undefined, 1, ['ES256']]) {
    assert.ok(!accepts({ alg, kid: key.id }, hmac), `${alg}`);
    assert.equal(parseToken(`${encoded({ alg })}.${payload}.`), undefined);
  }
  assert.ok(!accepts({ alg: 'HS256', kid: key.id }, hmac));
  assert.ok(!accepts({ alg: 'ES256', kid: key.id }, hmac));
  assert.ok(!accepts({ alg: 'ES256', kid: key.id }, () => Buffer.alloc(64).toString('base64url')));
});

test('a tampered token is rejected', () => {
  const changed = parseToken(`${encoded({ alg: 'ES256', kid: key.id })}.${encoded({ iss: 'you' })}.${signature}`)!;
  assert.ok(!isSignedWith(changed, key));
  const rsa = newKey('rsa');
  assert.ok(!isSignedWith({ ...parseToken(signToken({}, rsa))!, header: { alg: 'PS256', kid: rsa.id } }, rsa));
});

test('a header that changes how a token is verified is refused', () => {
  const critical = signToken({ iss: 'me' }, key);
  const parsed = parseToken(critical)!;
  assert.ok(isSignedWith(parsed, key));
  assert.ok(!isSignedWith({ ...parsed, header: { ...parsed.header, crit: ['b64'] } }, key));
});

test('other strings are not tokens', () => {
  const check = (text: string) => assert.equal(parseToken(text), undefined, text.slice(0, 80));
  check('');
  check('..');
  check('a.b');
  check(`${token}.x`);
  check(`${token}=`);
  check(`${encoded([])}.${payload}.${signature}`);
  check(`${encoded({})}.${encoded('text')}.${signature}`);
  check(`${encoded({})}.e30!.${signature}`);
  check(`${encoded({})}.eyJ.${signature}`);
  check(` ${token}`);
  check('{"payload":"e30","signatures":[]}');
  check(signToken({ long: 'x'.repeat(16 << 10) }, key));
});
