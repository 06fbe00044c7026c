import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canRun, formatPlatform, linuxPlatform, type Platform, pickPlatform } from './platform.ts';

function platform(text: string): Platform {
  const [os = '', architecture = '', variant] = text.split('/');
  return { os, architecture, variant };
}

function check(host: string, offered: string[], expected: string | undefined): void {
  const candidates = offered.map((text) => ({ text, platform: text === '' ? undefined : platform(text) }));
  assert.equal(pickPlatform(candidates, linuxPlatform(host))?.text, expected, `${host} of ${offered}`);
}

test('the best platform of an index is selected', () => {
  check('x64', ['linux/arm64', 'linux/amd64'], 'linux/amd64');
  check('x64', ['windows/amd64', 'linux/386'], 'linux/386');
  check('x64', ['linux/amd64/v3', 'linux/amd64'], 'linux/amd64');
  check('x64', ['linux/arm64'], undefined);
  check('x64', ['unknown/unknown', 'linux/amd64', 'linux/amd64'], 'linux/amd64');
  check('arm64', ['linux/arm/v7', 'linux/arm64'], 'linux/arm64');
  check('arm64', ['linux/arm/v6', 'linux/arm/v7'], 'linux/arm/v7');
  check('aarch64', ['linux/arm64/v8'], 'linux/arm64/v8');
  check('armel', ['linux/arm/v7', 'linux/arm/v5'], 'linux/arm/v5');
  check('armhf', ['linux/arm', 'linux/arm/v6'], 'linux/arm');
  check('s390x', ['linux/amd64', 'linux/s390x'], 'linux/s390x');
});

test('an entry without a platform is selected only if no other matches', () => {
  check('x64', ['', 'linux/amd64'], 'linux/amd64');
  check('x64', ['linux/arm64', ''], '');
});

test('platforms are normalized before comparison', () => {
  assert.ok(canRun(linuxPlatform('x64'), { os: 'Linux', architecture: 'x86_64' }));
  assert.ok(canRun(linuxPlatform('arm64'), { os: 'linux', architecture: 'aarch64', variant: '8' }));
  assert.ok(!canRun(linuxPlatform('x64'), { os: 'linux', architecture: 'arm64' }));
  assert.equal(formatPlatform(linuxPlatform('armhf')), 'linux/arm/v7');
});
