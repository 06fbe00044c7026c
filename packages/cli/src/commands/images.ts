import type { Image } from '@podwright/cri';
import { withRuntime } from '../daemon/with-runtime.ts';
import { type OutputFormat, printAs } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import { formatBytes } from '../output/units.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type ImagesOptions = { output: OutputFormat };

/** `podwright images`. */
export async function images(context: CommandContext, options: ImagesOptions): Promise<void> {
  const { images } = await withRuntime(context, (cri) => cri.image.listImages({}));
  const items = images.map(({ id, repoTags, repoDigests, size, pinned }) => ({
    id,
    repoTags,
    repoDigests,
    size,
    pinned,
  }));
  await printAs(options.output, items, () => imageTable(images, options.output === 'wide'));
}

function imageTable(images: Image[], wide: boolean): string {
  if (images.length === 0) return "no images; 'podwright pull IMAGE' or 'podwright load PATH' brings some";
  const rows = images.flatMap((image) => {
    const names = image.repoTags.length > 0 ? image.repoTags : [image.repoDigests[0] ?? '<none>'];
    return names.map((name) => [
      name,
      wide ? image.id : image.id.replace('sha256:', '').slice(0, 13),
      formatBytes(Number(image.size)),
    ]);
  });
  return renderTable(
    ['IMAGE', 'ID', 'SIZE'],
    rows.sort(),
    process.stdout.isTTY && !wide ? process.stdout.columns : undefined,
  );
}
