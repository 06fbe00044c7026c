/** The version, commit and build that a bundle reports, as constants for esbuild. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Source files and locked dependencies that determine what a bundle does. */
const SOURCES = [
  'packages/*/src/**/*.{js,ts}',
  'packages/dashboard/page/**/*.{ts,tsx,css,html,svg}',
  'packages/*/package.json',
  'package-lock.json',
  'scripts/{build,build-facts,bundle,bundle-imports,dashboard-page,page-styles}.ts',
];

/**
 * `PODWRIGHT_VERSION` and `PODWRIGHT_COMMIT` in the environment override the values from the checkout, for trees without Git and for tests.
 */
export function buildFacts(): Record<string, string> {
  const version = versionOfBuild();
  const facts = {
    PODWRIGHT_VERSION: version,
    PODWRIGHT_COMMIT: commitOfBuild(),
    PODWRIGHT_BUILD: digestOfSources(version),
  };
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, JSON.stringify(value)]));
}

/** The version of a build: `PODWRIGHT_VERSION`, or else the tag of the checked-out commit, or else the version in package.json. */
export function versionOfBuild(checkout = '.', environment: NodeJS.ProcessEnv = process.env): string {
  const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string };
  return environment.PODWRIGHT_VERSION ?? versionOfTag(checkout) ?? version;
}

/** Release tags consist of `v` and a semantic version. */
function versionOfTag(checkout: string): string | undefined {
  // sort newest first, and a release before its pre-releases
  const git = ['-C', checkout, '-c', 'versionsort.suffix=-', 'tag', '--sort=-version:refname', '--points-at', 'HEAD'];
  const { status, stdout } = spawnSync('git', git, { encoding: 'utf8' });
  const found = (status === 0 ? stdout : '').match(/^v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/m)?.[0];
  return found?.slice(1);
}

export function commitOfBuild(): string {
  if (process.env.PODWRIGHT_COMMIT !== undefined) return process.env.PODWRIGHT_COMMIT;
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

function digestOfSources(version: string): string {
  const hash = createHash('sha256').update(version);
  for (const file of globSync(SOURCES).sort())
    if (!/\.(?:test|fixture|suite)\.ts$/.test(file)) hash.update(`${file}\n`).update(readFileSync(file));
  return hash.digest('hex').slice(0, 12);
}
