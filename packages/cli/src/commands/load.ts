import { resolve } from 'node:path';
import { errorMessage, PodwrightError, wrapError } from '@podwright/base';
import type { LoadedImages } from '@podwright/cri';
import { withRuntime } from '../daemon/with-runtime.ts';
import { ProgressLine } from '../output/progress-line.ts';
import { print } from '../output/terminal-text.ts';
import { describeTransfer } from '../run/transfer-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { shortId } from './image-names.ts';
import { spoolInput } from './spool.ts';

export type LoadOptions = { name?: string; input?: string };

/** `podwright load PATH`, `load -i FILE`, or `load -` for standard input. */
export async function load(context: CommandContext, path: string | undefined, options: LoadOptions): Promise<void> {
  if (path !== undefined && options.input !== undefined)
    throw new PodwrightError('invalid_argument', `load: name one archive, ${path} or ${options.input}`);
  const from = path ?? options.input ?? '-';
  if (from !== '-') return loadFile(context, { path: resolve(from), from }, options);
  if (process.stdin.isTTY)
    throw new PodwrightError(
      'invalid_argument',
      'load: name an archive or the directory of an OCI layout, or pipe an archive in',
    );
  const what = 'standard input';
  using input = await spoolInput().catch((error: unknown) => {
    throw wrapError(`load ${what}`, error);
  });
  await loadFile(context, { path: input.path, from: what }, options);
}

/** Loads the images in an archive and shows the progress. `from` is the archive's name in messages. */
async function loadFile(
  context: CommandContext,
  { path, from }: { path: string; from: string },
  { name = '' }: LoadOptions,
): Promise<void> {
  await withRuntime(context, async (cri) => {
    const line = new ProgressLine(process.stderr);
    try {
      for await (const { event } of cri.transfers.load({ path, name })) {
        if (event.case === 'progress') line.show(describeTransfer({ ...event.value, reference: from }));
        if (event.case !== 'loaded') continue;
        line.end();
        report(event.value);
      }
    } catch (error) {
      throw path === resolve(from)
        ? error
        : new PodwrightError('invalid_argument', errorMessage(error).replaceAll(path, from));
    } finally {
      line.end();
    }
  });
}

function report({ images }: LoadedImages): void {
  for (const { id, references } of images) {
    for (const reference of references) print(`loaded ${reference}`);
    if (references.length === 0)
      print(`loaded ${shortId(id)}, which has no name in the archive; add one with '--name'`);
  }
}
