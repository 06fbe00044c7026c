import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { defaultAppArmorProfile } from '@podwright/oci';
import { AppArmor } from './apparmor.ts';

let directory: string;
let loaded: string;
let parser: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'apparmor-'));
  loaded = join(directory, 'profiles');
  parser = join(directory, 'parser');
  writeFileSync(loaded, 'mine (enforce)\nmine-too (complain)\n');
  // like the real apparmor_parser, this fake adds the profile to the (fake) kernel's list of loaded profiles
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

test('the default profile is loaded once, for containers that request it and containers without a profile setting', async () => {
  const apparmor = open();
  const requests = [runtimeDefault, undefined, runtimeDefault];
  const profiles = await Promise.all(requests.map((request) => apparmor.profileFor(request, ordinary)));
  assert.deepEqual(new Set(profiles), new Set(['podwright-default']));
  assert.match(readFileSync(join(directory, 'calls'), 'utf8'), /^--replace --skip-cache \S+\/podwright-default\n$/);
  const profile = readFileSync(join(directory, 'last'), 'utf8');
  assert.match(
    profile,
    /^@\{PROC\}=\/proc\/\nprofile podwright-default flags=.*\{\n {2}#include <abstractions\/base>\n/,
  );
});

test('an unconfined container has no profile, and a privileged container only a localhost profile', async () => {
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

test('without AppArmor only containers that request no profile are allowed', async () => {
  const apparmor = open(false);
  assert.equal(await apparmor.profileFor(undefined, ordinary), '');
  assert.equal(await apparmor.profileFor({ type: 'unconfined' }, ordinary), '');
  for (const profile of [runtimeDefault, { type: 'localhost', ref: 'mine' } as const])
    await assert.rejects(apparmor.profileFor(profile, ordinary), {
      code: 'failed_precondition',
      message: /switched off/,
    });
});

test('if apparmor_parser is missing, a container without a profile setting runs unconfined', async () => {
  const apparmor = open(true, '/no/such/parser');
  assert.equal(await apparmor.profileFor(undefined, ordinary), '');
  await assert.rejects(apparmor.profileFor(runtimeDefault, ordinary), { message: /install the package apparmor/ });
  writeFileSync(loaded, 'podwright-default (enforce)\n');
  assert.equal(await apparmor.profileFor(runtimeDefault, ordinary), 'podwright-default');
});

test('if apparmor_parser rejects the profile, the error includes its message', async () => {
  writeFileSync(parser, '#!/bin/sh\necho "syntax error in line 3" >&2\nexit 1\n');
  await assert.rejects(open().profileFor(runtimeDefault, ordinary), {
    code: 'failed_precondition',
    message: /load the default AppArmor profile: .*syntax error in line 3/,
  });
});

test('the profile includes the files provided by the distribution, and allows signals from the daemon', () => {
  const all = { abi: true, tunables: true, base: true, daemonProfile: 'podwrightd' };
  const full = defaultAppArmorProfile('p', all);
  assert.match(full, /^abi <abi\/3\.0>,\n#include <tunables\/global>\nprofile p /);
  assert.match(full, / signal \(receive\) peer=podwrightd,\n/);
  assert.match(full, / {2}deny mount,\n/);
  const bare = defaultAppArmorProfile('p', { abi: false, tunables: false, base: false, daemonProfile: 'unconfined' });
  assert.ok(!bare.includes('include') && bare.split('peer=unconfined').length === 2);
});
