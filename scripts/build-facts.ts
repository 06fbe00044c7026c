/** The version, commit and build that a bundle reports, as constants for esbuild. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';

/** Sources and locked dependencies: everything that decides what a bundle does. */
const SOURCES = [
  'packages/*/src/**/*.ts',
  'packages/*/package.json',
  'package-lock.json',
  'scripts/{build,bundle,bundle-imports}.ts',
];

/** `PODWRIGHT_VERSION` and `PODWRIGHT_COMMIT` in the environment replace what the checkout says, for trees without Git and for tests. */
export function buildFacts(): Record<string, string> {
  const version = versionOfBuild();
  const facts = {
    PODWRIGHT_VERSION: version,
    PODWRIGHT_COMMIT: process.env.PODWRIGHT_COMMIT ?? commitOfCheckout(),
    PODWRIGHT_BUILD: digestOfSources(version),
  };
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, JSON.stringify(value)]));
}

export function versionOfBuild(): string {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  return process.env.PODWRIGHT_VERSION ?? version;
}

function commitOfCheckout(): string {
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

function digestOfSources(version: string): string {
  const hash = createHash('sha256').update(version);
  for (const file of globSync(SOURCES).sort())
    if (!/\.(?:test|fixture|suite)\.ts$/.test(file)) hash.update(`${file}\n`).update(readFileSync(file));
  return hash.digest('hex').slice(0, 12);
}
