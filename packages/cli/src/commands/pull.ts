import { isUnimplemented } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { RegistryCredential } from '@podwright/kubelet';
import { withRuntime } from '../daemon/with-runtime.ts';
import { ProgressLine } from '../output/progress-line.ts';
import { print } from '../output/terminal-text.ts';
import { formatBytes, formatDuration } from '../output/units.ts';
import { describeTransfer } from '../run/transfer-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { shortId } from './image-names.ts';
import { type PullOptions, readCredentials } from './pull-credentials.ts';

/** `podwright pull IMAGE…`: pulls the images one at a time and shows their progress. */
export async function pull(context: CommandContext, references: string[], options: PullOptions): Promise<void> {
  const credentials = readCredentials(options);
  await withRuntime(context, async (cri) => {
    for (const reference of references) await pullOne(cri, reference, credentials(reference));
  });
}

async function pullOne(cri: CriClient, reference: string, auth: RegistryCredential | undefined): Promise<void> {
  const startedAtMs = Date.now();
  const watching = new AbortController();
  const line = new ProgressLine(process.stderr);
  const progress = showProgress(cri, line, watching.signal);
  try {
    const { imageRef } = await cri.image.pullImage({ image: { image: reference }, auth });
    const { image } = await cri.image.imageStatus({ image: { image: imageRef } });
    line.end();
    const size = image === undefined ? '' : `, ${formatBytes(Number(image.size))}`;
    print(`${reference}: ${shortId(image?.id ?? imageRef)}${size} in ${formatDuration(Date.now() - startedAtMs)}`);
  } finally {
    line.end();
    watching.abort();
    await progress;
  }
}

async function showProgress(cri: CriClient, line: ProgressLine, signal: AbortSignal): Promise<void> {
  try {
    for await (const progress of cri.transfers.watch({}, { signal })) line.show(describeTransfer(progress));
  } catch (error) {
    if (!signal.aborted && !isUnimplemented(error)) throw error;
  }
}
