import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isErrno } from '@podwright/base';
import { VERSION } from '../../packages/base/src/version.ts';

const checkout = new URL('../..', import.meta.url).pathname;
/** Sets the version expected by the tests, even on a tagged commit. */
const env = { ...process.env, PODWRIGHT_VERSION: VERSION };

/** The files of a release for x64, by type. */
export type Release = {
  directory: string;
  archive: string;
  deb: string;
  rpm: string;
  image: string;
  remove: () => void;
};

/** Builds the release into a new directory. In a full test run, all test files share the first one. */
export async function buildRelease(): Promise<Release> {
  const shared = process.env.PODWRIGHT_TEST_BUNDLE && `${process.env.PODWRIGHT_TEST_BUNDLE}-release`;
  if (shared === undefined) return await buildOwnRelease();
  if (!existsSync(shared)) moveUnlessThere(await makeRelease(), shared);
  return { ...filesOf(shared), remove: () => undefined };
}

/** Builds a release that is not shared with other test files. */
export async function buildOwnRelease(): Promise<Release> {
  const directory = await makeRelease();
  return { ...filesOf(directory), remove: () => rmSync(directory, { recursive: true }) };
}

/** Builds the release for x64 into a new directory, and returns its path. */
export async function makeRelease(): Promise<string> {
  const directory = mkdtempSync('/tmp/pwr-');
  await promisify(execFile)(process.execPath, ['scripts/release/main.ts', directory, 'x64'], { cwd: checkout, env });
  return directory;
}

/** Mounts the checkout at another path, which only the build sees. */
const ELSEWHERE = 'umask 077 && mount --bind "$1" "$2" && cd "$2" && shift 2 && exec "$@"';

/** Builds the release for x64 as a user with a checkout at another path and a umask of 077 would. */
export async function makeReleaseElsewhere(): Promise<string> {
  const directory = mkdtempSync('/tmp/pwr-');
  const elsewhere = mkdtempSync('/tmp/pwr-another-and-longer-path-');
  const build = [process.execPath, 'scripts/release/main.ts', directory, 'x64'];
  try {
    await promisify(execFile)('unshare', ['--mount', 'sh', '-ec', ELSEWHERE, 'sh', checkout, elsewhere, ...build], {
      env,
    });
  } finally {
    rmdirSync(elsewhere);
  }
  return directory;
}

function filesOf(directory: string): Omit<Release, 'remove'> {
  const file = (name: string) => join(directory, name);
  return {
    directory,
    archive: file(`podwright-${VERSION}-linux-x64.tar.zst`),
    deb: file(`podwright_${VERSION}_amd64.deb`),
    rpm: file(`podwright-${VERSION}-1.x86_64.rpm`),
    image: file(`podwright-${VERSION}-oci.tar`),
  };
}

/** Unpacks the archive into a new, otherwise empty directory; returns its path. */
export function unpackArchive({ archive }: Release): string {
  const directory = mkdtempSync('/tmp/pwr-');
  execFileSync('tar', ['--zstd', '-xf', archive, '-C', directory, '--strip-components=1']);
  return directory;
}

/** Moves a release to the shared directory, or removes it if another process has already moved one there. */
function moveUnlessThere(directory: string, shared: string): void {
  try {
    renameSync(directory, shared);
  } catch (error) {
    if (!isErrno(error, 'ENOTEMPTY') && !isErrno(error, 'EEXIST')) throw error;
    rmSync(directory, { recursive: true });
  }
}
