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

/** Exit codes of this command when terminated by these signals, as in shells. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 };

/**
 * `podwright save IMAGE… [-o FILE]`: writes an OCI archive, which Docker can also load, to the file or to standard output. Returns the exit
 * code.
 */
export async function save(
  context: CommandContext,
  references: string[],
  { output = '-' }: { output?: string },
): Promise<number> {
  if (output === '-') return saveToOutput(context, references);
  const path = resolve(output);
  await withRuntime(context, (cri) => cri.transfers.save({ references, path }));
  print(`saved ${counted(references.length, 'image')} to ${output} (${formatBytes(statSync(path).size)})`);
  return 0;
}

async function saveToOutput(context: CommandContext, references: string[]): Promise<number> {
  if (process.stdout.isTTY)
    throw new PodwrightError('invalid_argument', "save: standard output is a terminal; name a file with '-o FILE'");
  const stopped = new AbortController();
  const stop = (signal: NodeJS.Signals) => stopped.abort(signal);
  for (const signal of Object.keys(SIGNALS)) process.once(signal, stop);
  try {
    await withRuntime(context, (cri) => passOn(cri, references, stopped.signal));
    return 0;
  } catch (error) {
    if (!stopped.signal.aborted) throw error;
    return SIGNALS[stopped.signal.reason as keyof typeof SIGNALS];
  } finally {
    for (const signal of Object.keys(SIGNALS)) process.off(signal, stop);
  }
}

/**
 * Streams the archive to standard output. The container runtime can only write to files, so this uses a temporary file and deletes it as
 * soon as it has been opened.
 */
async function passOn(cri: CriClient, references: string[], signal: AbortSignal): Promise<void> {
  const directory = mkdtempSync(join(spoolDirectory(), 'podwright-save-'));
  try {
    const path = join(directory, 'images.tar');
    await cri.transfers.save({ references, path }, { signal });
    const archive = createReadStream(path);
    archive.once('open', () => rmSync(directory, { recursive: true })); // deleted even if the reader of standard output exits
    await pipeline(archive, process.stdout, { signal });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
