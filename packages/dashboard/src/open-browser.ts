import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PodwrightError, PRIVATE_FILE } from '@podwright/base';

const OPENER = 'xdg-open';

/**
 * Opens a link in the user's browser. The link contains a token, but all users can read a process's arguments. The argument is therefore
 * the path of a file that redirects to the link and is only readable by this user. Disposing removes the file. Rejects with `not_found` if
 * `xdg-open` is not installed.
 */
export async function openInBrowser(link: string): Promise<Disposable> {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-dashboard-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  const file = join(directory, 'open.html');
  const target = link.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const page = `<!doctype html><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${target}">\n`;
  writeFileSync(file, page, { mode: PRIVATE_FILE });
  const opener = spawn(OPENER, [file], { stdio: 'ignore', detached: true });
  try {
    await once(opener, 'spawn');
  } catch {
    remove();
    throw new PodwrightError('not_found', `--open needs the program ${OPENER}: open the printed link instead`);
  }
  opener.unref();
  return { [Symbol.dispose]: remove };
}
