/**
 * A local user writes compiled code to /tmp/node-compile-cache, where npm, npx and tsc run it regardless of who owns it, and waits for root
 * to set up a checkout. TMPDIR simulates the shared /tmp.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { crc32 } from 'node:zlib';

const checkout = new URL('../..', import.meta.url).pathname;
const directory = mkdtempSync('/tmp/podwright-forged-');
const path = (...names: string[]) => join(directory, ...names);
after(() => rmSync(directory, { recursive: true }));

const honest = `require('node:fs').writeFileSync(${JSON.stringify(path('ran'))}, '');`;
const evil = `require('node:fs').writeFileSync(${JSON.stringify(path('PWNED'))}, '');`;
const padded = (code: string) => `${code}//${'x'.repeat(200 - code.length)}`;

/** A program that enables the cache and then loads its actual code, like npm's cli.js and tsc. */
const program = `#!/usr/bin/env node
require('node:module').enableCompileCache();
require(${JSON.stringify(path('rest.cjs'))});
`;

/** Forges a cache entry: code compiled from different source, with the checksum of the real source. */
function forge(): void {
  const cache = path('tmp', 'node-compile-cache');
  writeFileSync(path('rest.cjs'), padded(evil));
  execFileSync(path('checkout/.node/bin/npm'), { env: { ...process.env, NODE_COMPILE_CACHE: cache } });
  assert.ok(existsSync(path('PWNED')));
  rmSync(path('PWNED'));
  writeFileSync(path('rest.cjs'), padded(honest));
  const [made, wanted] = [evil, honest].map((code) => crc32(padded(code)));
  for (const name of readdirSync(cache, { recursive: true, encoding: 'utf8' })) {
    const file = join(cache, name);
    if (readdirSync(cache).includes(name)) continue; // a directory of one version of Node.js
    const entry = readFileSync(file);
    for (let at = 0; at < 32; at += 4) if (entry.readUInt32LE(at) === made) entry.writeUInt32LE(wanted!, at);
    writeFileSync(file, entry);
  }
}

/** Runs a program with the shared directory in place of /tmp. Ignores the exit code, because the programs are fakes. */
function call(command: string, ...args: string[]): void {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const PATH = `${path('checkout/.node/bin')}:${process.env.PATH}`;
  spawnSync(command, args, { cwd: path('checkout'), env: { ...env, TMPDIR: path('tmp'), PATH } });
}

before(() => {
  for (const name of ['tmp', 'checkout/.node/bin', 'checkout/packages', 'checkout/dist', 'checkout/node_modules'])
    mkdirSync(path(name), { recursive: true });
  cpSync(join(checkout, 'scripts'), path('checkout/scripts'), { recursive: true });
  for (const name of ['Makefile', 'package-lock.json']) copyFileSync(join(checkout, name), path('checkout', name));
  writeFileSync(path('checkout/dist/podwright.js'), ''); // newer than all sources, so that nothing is built
  symlinkSync(process.execPath, path('checkout/.node/bin/node'));
  for (const name of ['npm', 'npx', 'crun', 'conmon', 'catatonit', 'busybox']) {
    writeFileSync(path('checkout/.node/bin', name), program);
    chmodSync(path('checkout/.node/bin', name), 0o755);
  }
});

test('the attack works on programs without a protected cache', () => {
  forge();
  call('npm', '--version');
  assert.ok(existsSync(path('PWNED')), 'the forgery itself works');
  rmSync(path('PWNED'));
});

for (const [command, ...args] of [['scripts/setup.sh'], ['make', 'lint'], ['make', 'generate']] as const)
  test(`${[command, ...args].join(' ')} does not run compiled code of another user`, () => {
    forge();
    rmSync(path('ran'), { force: true });
    rmSync(path('checkout/node_modules/.podwright-lock'), { force: true });
    call(command, ...args);
    assert.ok(existsSync(path('ran')), 'npm or npx was called');
    assert.ok(!existsSync(path('PWNED')));
  });
