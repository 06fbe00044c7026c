import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode, PodwrightError } from '@podwright/base';
import { formatReference, parseReference } from './reference.ts';

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;

function check(text: string, expected: string): void {
  assert.equal(formatReference(parseReference(text)), expected, text);
}

function checkInvalid(text: string, message: RegExp): void {
  assert.throws(
    () => parseReference(text),
    (error: unknown) => errorCode(error) === 'invalid_argument' && message.test((error as Error).message),
    text,
  );
}

test('names are normalized as in Docker and containerd', () => {
  check('busybox', 'docker.io/library/busybox:latest');
  check('busybox:1.36', 'docker.io/library/busybox:1.36');
  check('user/app', 'docker.io/user/app:latest');
  check('docker.io/busybox', 'docker.io/library/busybox:latest');
  check('index.docker.io/busybox:1', 'docker.io/library/busybox:1');
  check('index.docker.io/user/app', 'docker.io/user/app:latest');
  check('localhost/app', 'localhost/app:latest');
  check('localhost:5000/app', 'localhost:5000/app:latest');
  check('localhost:5000', 'docker.io/library/localhost:5000');
  check('[::1]:5000/app:v1', '[::1]:5000/app:v1');
  check('[2001:db8::1]/app', '[2001:db8::1]/app:latest');
  check('127.0.0.1:5000/a/b/c:T_.-', '127.0.0.1:5000/a/b/c:T_.-');
  check('quay.io/a.b_c__d-e--f/g', 'quay.io/a.b_c__d-e--f/g:latest');
  check('Foo/bar', 'Foo/bar:latest');
  check('registry/app', 'docker.io/registry/app:latest');
  check('deadbeef', 'docker.io/library/deadbeef:latest');
});

test('a digest replaces the tag', () => {
  check(`busybox@${digest}`, `docker.io/library/busybox@${digest}`);
  check(`busybox:1.36@${digest}`, `docker.io/library/busybox@${digest}`);
  check(`localhost:5000/app@${digest}`, `localhost:5000/app@${digest}`);
  check(`a/b@sha512:${'a'.repeat(128)}`, `docker.io/a/b@sha512:${'a'.repeat(128)}`);
});

test('invalid references are refused with the reason', () => {
  checkInvalid('', /empty/);
  checkInvalid('Busybox', /lower case/);
  checkInvalid('docker.io/Library/busybox', /lower case/);
  checkInvalid('a'.repeat(64), /image id/);
  checkInvalid('-busybox', /not a repository name/);
  checkInvalid('a//b', /not a repository name/);
  checkInvalid('a___b', /not a repository name/);
  checkInvalid('a..b', /not a repository name/);
  checkInvalid('busybox:', /not a tag/);
  checkInvalid('busybox:.x', /not a tag/);
  checkInvalid(`busybox:${'x'.repeat(129)}`, /not a tag/);
  checkInvalid(`quay.io/${'a'.repeat(256)}`, /longer than 255/);
  checkInvalid('a'.repeat(2000), /longer than 1024/);
  checkInvalid('busybox@sha256:abc', /not a digest/);
  checkInvalid(`busybox@${digest.toUpperCase()}`, /not a digest/);
  checkInvalid(`busybox@md5:${'a'.repeat(32)}`, /not a digest/);
  checkInvalid('busy box', /not a repository name/);
  checkInvalid('https://quay.io/a', /not a r/);
  checkInvalid('quay.io:port/a', /registry host/);
  checkInvalid('-quay.io/a', /registry host/);
  checkInvalid('quay.io/a\n', /not a repository name/);
});

/** Mulberry32: a small seeded generator, so that a failure can be reproduced. */
function seededRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) % below;
  };
}

test('any text is rejected or has a canonical form that parses to the same reference', () => {
  const random = seededRandom(20261121);
  const pieces = [
    'a',
    'B',
    '0',
    '.',
    '_',
    '-',
    '/',
    ':',
    '@',
    '[',
    ']',
    '::',
    'localhost',
    'docker.io',
    digest,
    ' ',
    'é',
  ];
  let accepted = 0;
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: 1 + random(8) }, () => pieces[random(pieces.length)]).join('');
    try {
      const reference = parseReference(text);
      assert.deepEqual(parseReference(formatReference(reference)), reference, text);
      accepted++;
    } catch (error) {
      assert.ok(error instanceof PodwrightError && error.code === 'invalid_argument', `${text}: ${error}`);
    }
  }
  assert.ok(accepted > 1000, `only ${accepted} were valid`);
});
