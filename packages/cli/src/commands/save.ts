import { createReadStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { counted, PodwrightError } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { withRuntime } from '../daemon/with-runtime.ts';
import { print } from '../output/terminal-text.ts';
import { formatBytes } from '../output/units.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { spoolDirectory } from './spool.ts';

/** `podwright save IMAGE… [-o FILE]`: one archive, an OCI layout that Docker can load as well; to standard output without a file. */
export async function save(
  context: CommandContext,
  references: string[],
  { output = '-' }: { output?: string },
): Promise<void> {
  if (output !== '-') {
    const path = resolve(output);
    await withRuntime(context, (cri) => cri.transfers.save({ references, path }));
    return print(`saved ${counted(references.length, 'image')} to ${output} (${formatBytes(statSync(path).size)})`);
  }
  if (process.stdout.isTTY)
    throw new PodwrightError('invalid_argument', "save: an archive is not for a terminal; name a file with '-o FILE'");
  await withRuntime(context, (cri) => saveToOutput(cri, references));
}

/** The runtime writes whole files only, so there is one on the way; it has no name any more when it is passed on. */
async function saveToOutput(cri: CriClient, references: string[]): Promise<void> {
  const directory = mkdtempSync(join(spoolDirectory(), 'podwright-save-'));
  const stopped = new AbortController();
  const stop = () => stopped.abort(new PodwrightError('cancelled', 'save: interrupted'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  try {
    const path = join(directory, 'images.tar');
    await cri.transfers.save({ references, path }, { signal: stopped.signal });
    const archive = createReadStream(path);
    archive.once('open', () => rmSync(path));
    await pipeline(archive, process.stdout, { signal: stopped.signal });
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
    rmSync(directory, { recursive: true, force: true });
  }
}
