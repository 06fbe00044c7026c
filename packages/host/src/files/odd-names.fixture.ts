import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';

/**
 * File names that containers and archives may use. The first three are not UTF-8, so decoding them yields names of files that do not exist.
 */
export const ODD_NAMES: readonly Buffer[] = [
  Buffer.from('caf\xe9', 'latin1'),
  Buffer.from('a\xff\xfeb', 'latin1'),
  Buffer.from('\xff'.repeat(255), 'latin1'), // 255 bytes, the maximum length (NAME_MAX)
  Buffer.from('n'.repeat(255)),
  Buffer.from('new\nline'),
  Buffer.from('-rf'),
  Buffer.from('..x'),
  Buffer.from(' \\ "\t\x1b[31m'),
  Buffer.from('\u{1f600}\ufffd'),
];

/**
 * Creates `root` with a file, a directory that contains a file, and a symbolic link of each odd name. Each link's target is its own name.
 */
export function makeOddTree(root: string): void {
  mkdirSync(root);
  for (const kind of ['directories', 'links']) mkdirSync(`${root}/${kind}`);
  for (const name of ODD_NAMES) {
    const pathIn = (kind: string) => Buffer.concat([Buffer.from(`${root}/${kind}/`), name]);
    writeFileSync(pathIn('.'), 'content', { mode: 0o600 });
    mkdirSync(pathIn('directories'), 0o700);
    writeFileSync(Buffer.concat([pathIn('directories'), Buffer.from('/'), name]), 'below', { mode: 0o600 });
    symlinkSync(name, pathIn('links'));
  }
  chmodSync(Buffer.concat([Buffer.from(`${root}/`), ODD_NAMES[0]!]), 0o711);
}

/** Creates nested directories with a file in each, so deep that the path of the innermost exceeds the kernel's PATH_MAX (4096). */
export function makeDeepTree(root: string, levels = 300): void {
  const script = `
    const { mkdirSync, writeFileSync } = require('node:fs');
    for (const name of [process.argv[1], ...Array(${levels}).fill('a'.repeat(15))]) {
      mkdirSync(name);
      process.chdir(name);
      writeFileSync('file', '', { mode: 0o600 });
    }`;
  execFileSync(process.execPath, ['-e', script, root]);
}

/** Returns the output of `find -printf format` for each file under `root`, decoded as latin1 and sorted. */
export function found(root: string, format: string): string[] {
  const options = { encoding: 'latin1', maxBuffer: 64 << 20 } as const;
  const all = execFileSync('find', ['.', '-mindepth', '1', '-printf', `${format}\\0`], { ...options, cwd: root });
  return all.split('\0').slice(0, -1).sort();
}
