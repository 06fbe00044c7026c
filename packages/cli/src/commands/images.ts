import type { Image } from '@podwright/cri';
import { withRuntime } from '../daemon/with-runtime.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import { terminalWidth } from '../output/terminal.ts';
import { print } from '../output/terminal-text.ts';
import { formatBytes } from '../output/units.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { namesOf, shortId } from './image-names.ts';

export type ImagesOptions = { output: OutputFormat | 'wide'; quiet?: boolean; digests?: boolean };

/** `podwright images`: lists the node's images. */
export async function images(context: CommandContext, options: ImagesOptions): Promise<void> {
  const { images } = await withRuntime(context, (cri) => cri.image.listImages({}));
  if (options.quiet) {
    for (const { id } of images) print(shortId(id));
    return;
  }
  const items = images.map(({ id, repoTags, repoDigests, size, pinned }) => ({
    id,
    repoTags,
    repoDigests,
    size,
    pinned,
  }));
  await printAs(options.output, items, () => imageTable(images, options));
}

function imageTable(images: Image[], { output, digests }: ImagesOptions): string {
  if (images.length === 0) return "no images; get some with 'podwright pull IMAGE' or 'podwright load PATH'";
  const wide = output === 'wide';
  const rows = images.flatMap((image) =>
    namesOf(image).map((name) => [
      name,
      ...(digests ? [digestOf(image, name)] : []),
      wide ? image.id : shortId(image.id),
      formatBytes(Number(image.size)),
    ]),
  );
  const header = ['IMAGE', ...(digests ? ['DIGEST'] : []), 'ID', 'SIZE'];
  return renderTable(header, rows.sort(), wide ? undefined : terminalWidth());
}

/** Returns the registry's digest for this image name, or `-` if there is none, as for an image loaded from an archive. */
function digestOf({ repoDigests }: Image, name: string): string {
  const repository = name.replace(/(@|:[^/:]*$).*/, '');
  return repoDigests.find((digest) => digest.startsWith(`${repository}@`))?.slice(repository.length + 1) ?? '-';
}
