import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateFinding, clockFinding } from './doctor-cluster.ts';

test('a clock skew is reported with its direction', () => {
  const check = (thereMs: number, level: string, message: RegExp) => {
    const found = clockFinding(thereMs, 1_000_000);
    assert.equal(found.level, level);
    assert.match(found.message, message);
  };
  check(1_000_000, 'ok', /within seconds/);
  check(991_000, 'ok', /within seconds/);
  check(400_000, 'missing', /^600 s ahead of the API server's$/);
  check(1_060_000, 'missing', /^60 s behind the API server's$/);
  check(Number.NaN, 'note', /does not send its time/);
});

/** A self-signed certificate, generated with `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=a -days 1`. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBbjCCAROgAwIBAgIUEQQ4bDq0qI0d0Hy6WOJcvbLplL0wCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBYTAeFw0yNjExMjMwMjU5MTBaFw0yNjExMjQwMjU5MTBaMAwx
CjAIBgNVBAMMAWEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARq5gQ9JxhyyLgZ
V0H4NcAf3/te9VM8E/Km79tV1dnEVt/BT3LmPQ6AgRmj5Mufkk0xqKxYr0ezCY+U
YcTJyMkKo1MwUTAdBgNVHQ4EFgQUqppu1utC6oR4aK2yM53GDwsbGcQwHwYDVR0j
BBgwFoAUqppu1utC6oR4aK2yM53GDwsbGcQwDwYDVR0TAQH/BAUwAwEB/zAKBggq
hkjOPQQDAgNJADBGAiEAlkevfD/6qugZZ8hhdoSf9bqMsXZ2H0HYC47/UvK9DzQC
IQDDnlyCCMwciFCU+tX3cHzl0Ci3vAspyi0UubA1LIPGGw==
-----END CERTIFICATE-----`;

test('the validity of a certificate is reported', () => {
  const endMs = Date.parse('2026-11-24T02:59:10Z');
  const check = (nowMs: number, level: string, message: RegExp) => {
    const found = certificateFinding(CERTIFICATE, nowMs, {});
    assert.equal(found.level, level);
    assert.match(found.message, message);
  };
  check(endMs - 48 * 3_600_000, 'ok', /^valid until 20/);
  check(endMs - 3_600_000, 'note', /^valid until 20/);
  check(endMs + 1000, 'missing', /^expired on 20/);
  assert.equal(certificateFinding(undefined, 0, {}).level, 'ok');
  assert.match(certificateFinding(CERTIFICATE, endMs + 1, {}).fix ?? '', /^podwright leave, and join/);
  const late = certificateFinding(CERTIFICATE, endMs + 1, { bootstrapKubeconfig: '/b.conf' });
  assert.match(late.fix ?? '', /^put a valid token into \/b\.conf .* while it runs$/);
});
