/** Files from npm packages that the checkout does not install, because they are only for the release or for another architecture. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Download cache, deleted along with the npm packages. */
const CACHE = 'node_modules/.cache/podwright-release';

export type NpmArchive = {
  name: string;
  version: string;
  /** The archive's integrity hash, as in package-lock.json. */
  integrity: string;
  files: string[];
  /** Called once, with the directory containing the unpacked files. */
  prepare?: (directory: string) => void;
};

/** Fetches and verifies a package's archive, unless already done. Returns the directory of its files. */
export function npmArchive({ name, version, integrity, files, prepare }: NpmArchive): string {
  const directory = resolve(CACHE, `${name.replaceAll('/', '-')}-${version}`);
  if (existsSync(directory)) return directory;
  mkdirSync(CACHE, { recursive: true });
  const scratch = mkdtempSync(`${CACHE}/fetch-`);
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' };
  const printed = execFileSync('npm', ['pack', '--silent', `${name}@${version}`], {
    cwd: scratch,
    env,
    encoding: 'utf8',
  });
  const archive = printed.trim();
  const sum = createHash('sha512')
    .update(readFileSync(join(scratch, archive)))
    .digest('base64');
  if (`sha512-${sum}` !== integrity)
    throw new Error(`${archive} is not the expected file: its integrity is sha512-${sum}`);
  const members = files.map((file) => `package/${file}`);
  execFileSync('tar', ['-xzf', archive, '--strip-components=1', ...members], { cwd: scratch });
  rmSync(join(scratch, archive));
  prepare?.(scratch);
  renameSync(scratch, directory);
  return directory;
}
