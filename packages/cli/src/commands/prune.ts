import { counted, isUnimplemented } from '@podwright/base';
import { type CriClient, type Image, isPinnedForUsers } from '@podwright/cri';
import type { Pod } from '@podwright/kube-api';
import { NodeClient } from '../client/node-client.ts';
import { withRuntime } from '../daemon/with-runtime.ts';
import { print } from '../output/terminal-text.ts';
import { formatBytes } from '../output/units.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { namesOf } from './image-names.ts';

export type PruneOptions = { all?: boolean; dryRun?: boolean };

/** `podwright prune`: removes unused images without a name (with `--all`, also those with one), and leftovers of failed pulls. */
export async function prune(context: CommandContext, options: PruneOptions): Promise<void> {
  await withRuntime(context, async (cri) => {
    const used = await imagesInUse(cri, await new NodeClient(context.config.apiSocket).pods());
    const { images } = await cri.image.listImages({});
    const unused = images.filter((image) => {
      return !isPinnedForUsers(image) && !used.has(image.id) && (options.all || image.repoTags.length === 0);
    });
    if (options.dryRun) return printPlan(unused);
    const before = await usedBytes(cri);
    for (const image of unused) {
      await cri.image.removeImage({ image: { image: image.id } });
      print(`removed ${namesOf(image).join(', ')}`);
    }
    await cri.transfers.clean({}).catch((error: unknown) => {
      if (!isUnimplemented(error)) throw error;
    });
    const freed = Math.max(0, before - (await usedBytes(cri)));
    const rest = options.all ? '' : '; --all also removes unused images with a name';
    print(`${counted(unused.length, 'image')} removed, ${formatBytes(freed)} freed${unused.length === 0 ? rest : ''}`);
  });
}

async function imagesInUse(cri: CriClient, pods: Pod[]): Promise<Set<string>> {
  const { containers } = await cri.runtime.listContainers({});
  const ids = new Set(containers.map(({ imageId, imageRef }) => imageId || imageRef));
  const specs = pods.flatMap(({ spec }) => [...(spec.initContainers ?? []), ...spec.containers]);
  const ofVolumes = pods.flatMap(({ spec }) => (spec.volumes ?? []).flatMap(({ image }) => image?.reference ?? []));
  for (const name of new Set([...specs.map(({ image }) => image), ...ofVolumes])) {
    const { image } = await cri.image.imageStatus({ image: { image: name } });
    if (image !== undefined) ids.add(image.id);
  }
  return ids;
}

function printPlan(unused: Image[]): void {
  for (const image of unused) print(`would remove ${namesOf(image).join(', ')} (${formatBytes(Number(image.size))})`);
  const bytes = unused.reduce((sum, { size }) => sum + Number(size), 0);
  print(`${counted(unused.length, 'image')} of ${formatBytes(bytes)}, packed; nothing was removed`);
}

/** Returns the disk space used by images, both compressed and unpacked. */
async function usedBytes(cri: CriClient): Promise<number> {
  const { imageFilesystems } = await cri.image.imageFsInfo({});
  return imageFilesystems.reduce((sum, { usedBytes }) => sum + Number(usedBytes?.value ?? 0n), 0);
}
