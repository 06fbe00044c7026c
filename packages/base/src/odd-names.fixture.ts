import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';

/** Names that containers and archives may give to files. Decoded as UTF-8 text, the first three lead to no file. */
export const ODD_NAMES: readonly Buffer[] = [
  Buffer.from('caf\xe9', 'latin1'),
  Buffer.from('a\xff\xfeb', 'latin1'),
  Buffer.from('\xff'.repeat(255), 'latin1'), // NAME_MAX
  Buffer.from('n'.repeat(255)),
  Buffer.from('new\nline'),
  Buffer.from('-rf'),
  Buffer.from('..x'),
  Buffer.from(' \\ "\t\x1b[31m'),
  Buffer.from('\u{1f600}\ufffd'),
];

/** Makes `root` with a file, a directory with a file in it, and a link of each odd name. Links lead to the same odd name, or to nothing. */
export function makeOddTree(root: string): void {
  mkdirSync(root);
  for (const kind of ['directories', 'links']) mkdirSync(`${root}/${kind}`);
  for (const name of ODD_NAMES) {
    const place = (kind: string) => Buffer.concat([Buffer.from(`${root}/${kind}/`), name]);
    writeFileSync(place('.'), 'content', { mode: 0o600 });
    mkdirSync(place('directories'), 0o700);
    writeFileSync(Buffer.concat([place('directories'), Buffer.from('/'), name]), 'below', { mode: 0o600 });
    symlinkSync(name, place('links'));
  }
  chmodSync(Buffer.concat([Buffer.from(`${root}/`), ODD_NAMES[0]!]), 0o711);
}

/** Makes directories in each other with a file each; no path to the last is short enough for the kernel (PATH_MAX is 4096). */
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

/** What `find` prints of each file below `root`, in its `format`, a character a byte (latin1), sorted. */
export function found(root: string, format: string): string[] {
  const options = { encoding: 'latin1', maxBuffer: 64 << 20 } as const;
  const all = execFileSync('find', ['.', '-mindepth', '1', '-printf', `${format}\\0`], { ...options, cwd: root });
  return all.split('\0').slice(0, -1).sort();
}
