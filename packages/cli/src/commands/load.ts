import { resolve } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { withRuntime } from '../daemon/with-runtime.ts';
import { ProgressLine } from '../output/progress-line.ts';
import { print } from '../output/terminal-text.ts';
import { describeTransfer } from '../run/transfer-text.ts';
import type { CommandContext } from '../settings/node-config.ts';

/** `podwright load PATH`. */
export async function load(context: CommandContext, path: string, options: { name?: string }): Promise<void> {
  await withRuntime(context, async (cri) => {
    const line = new ProgressLine(process.stderr);
    try {
      for await (const { event } of cri.transfers.load({ path: resolve(path), name: options.name ?? '' })) {
        if (event.case === 'progress') line.show(describeTransfer(event.value));
        if (event.case !== 'loaded') continue;
        line.end();
        if (event.value.images.length === 0)
          throw new PodwrightError('invalid_argument', `load ${path}: there is no image in it`);
        for (const image of event.value.images) print(`loaded ${image.references.join(', ') || image.id}`);
      }
    } finally {
      line.end();
    }
  });
}
