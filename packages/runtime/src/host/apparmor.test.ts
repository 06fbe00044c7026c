import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { defaultAppArmorProfile } from '../oci/apparmor-profile.ts';
import { AppArmor } from './apparmor.ts';

let directory: string;
let loaded: string;
let parser: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'apparmor-'));
  loaded = join(directory, 'profiles');
  parser = join(directory, 'parser');
  writeFileSync(loaded, 'mine (enforce)\nmine-too (complain)\n');
  // does what the real one does, as far as the kernel's list goes
  const script = `echo "$@" >> ${directory}/calls; for file; do :; done; cp "$file" ${directory}/last; echo "$(basename "$file") (enforce)" >> ${loaded}`;
  writeFileSync(parser, `#!/bin/sh\n${script}\n`);
  chmodSync(parser, 0o755);
  mkdirSync(join(directory, 'abstractions'));
  writeFileSync(join(directory, 'abstractions/base'), '');
});
afterEach(() => rmSync(directory, { recursive: true }));

const open = (enabled = true, program = parser) =>
  new AppArmor(enabled, { loaded, policies: directory, parser: program });
const ordinary = { privileged: false };
const runtimeDefault = { type: 'runtime-default' } as const;

test('the default profile is loaded once, for a container that asks for it and for one that says nothing', async () => {
  const apparmor = open();
  const asked = [runtimeDefault, undefined, runtimeDefault].map((profile) => apparmor.profileFor(profile, ordinary));
  assert.deepEqual(new Set(await Promise.all(asked)), new Set(['podwright-default']));
  assert.match(readFileSync(join(directory, 'calls'), 'utf8'), /^--replace --skip-cache \S+\/podwright-default\n$/);
  const profile = readFileSync(join(directory, 'last'), 'utf8');
  assert.match(
    profile,
    /^@\{PROC\}=\/proc\/\nprofile podwright-default flags=.*\{\n {2}#include <abstractions\/base>\n/,
  );
});

test('the unconfined have none, and the privileged only one of their own', async () => {
  const apparmor = open();
  assert.equal(await apparmor.profileFor({ type: 'unconfined' }, ordinary), '');
  assert.equal(await apparmor.profileFor(runtimeDefault, { privileged: true }), '');
  assert.equal(await apparmor.profileFor(undefined, { privileged: true }), '');
  assert.equal(await apparmor.profileFor({ type: 'localhost', ref: 'mine' }, { privileged: true }), 'mine');
});

test('a profile that is not loaded is refused', async () => {
  const refused = open().profileFor({ type: 'localhost', ref: 'min' }, ordinary);
  await assert.rejects(refused, { code: 'failed_precondition', message: /profile min: it is not loaded/ });
});

test('without AppArmor only containers run that ask for none', async () => {
  const apparmor = open(false);
  assert.equal(await apparmor.profileFor(undefined, ordinary), '');
  assert.equal(await apparmor.profileFor({ type: 'unconfined' }, ordinary), '');
  for (const profile of [runtimeDefault, { type: 'localhost', ref: 'mine' } as const])
    await assert.rejects(apparmor.profileFor(profile, ordinary), {
      code: 'failed_precondition',
      message: /switched off/,
    });
});

test('without the program that loads profiles, a container that says nothing runs without one', async () => {
  const apparmor = open(true, '/no/such/parser');
  assert.equal(await apparmor.profileFor(undefined, ordinary), '');
  await assert.rejects(apparmor.profileFor(runtimeDefault, ordinary), { message: /install the package apparmor/ });
  writeFileSync(loaded, 'podwright-default (enforce)\n');
  assert.equal(await apparmor.profileFor(runtimeDefault, ordinary), 'podwright-default');
});

test('a profile that the program refuses is told by the message of the program', async () => {
  writeFileSync(parser, '#!/bin/sh\necho "syntax error in line 3" >&2\nexit 1\n');
  await assert.rejects(open().profileFor(runtimeDefault, ordinary), {
    code: 'failed_precondition',
    message: /load the default AppArmor profile: .*syntax error in line 3/,
  });
});

test('the profile builds on what the distribution has, and lets the daemon send signals', () => {
  const all = { abi: true, tunables: true, base: true, daemonProfile: 'podwrightd' };
  const full = defaultAppArmorProfile('p', all);
  assert.match(full, /^abi <abi\/3\.0>,\n#include <tunables\/global>\nprofile p /);
  assert.match(full, / signal \(receive\) peer=podwrightd,\n/);
  assert.match(full, / {2}deny mount,\n/);
  const bare = defaultAppArmorProfile('p', { abi: false, tunables: false, base: false, daemonProfile: 'unconfined' });
  assert.ok(!bare.includes('include') && bare.split('peer=unconfined').length === 2);
});
