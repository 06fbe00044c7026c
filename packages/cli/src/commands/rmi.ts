import { isUnimplemented, PodwrightError } from '@podwright/base';
import type { Container, CriClient, Image } from '@podwright/cri';
import { withRuntime } from '../daemon/with-runtime.ts';
import { print } from '../output/terminal-text.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { isIdOf, namesOf, podsUsing } from './image-names.ts';

export type RemoveImagesOptions = { force?: boolean };

/**
 * `podwright rmi IMAGE…`: removes an image's name, and the image itself if that was its last name. An ID removes the image along with all
 * its names.
 */
export async function removeImages(
  context: CommandContext,
  references: string[],
  options: RemoveImagesOptions,
): Promise<void> {
  await withRuntime(context, async (cri) => {
    const { containers } = await cri.runtime.listContainers({});
    const missing: string[] = [];
    for (const reference of references) {
      const { image } = await cri.image.imageStatus({ image: { image: reference } });
      if (image === undefined) missing.push(reference);
      else await removeOne(cri, { reference, image }, options.force ? [] : containers);
    }
    if (missing.length > 0)
      throw new PodwrightError('not_found', `no such image: ${missing.join(', ')}; 'podwright images' lists them`);
  });
}

async function removeOne(
  cri: CriClient,
  { reference, image }: { reference: string; image: Image },
  containers: Container[],
): Promise<void> {
  const byId = isIdOf(image, reference);
  const [user, ...others] = byId || image.repoTags.length <= 1 ? podsUsing(image.id, containers) : [];
  if (user !== undefined) {
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    throw new PodwrightError(
      'failed_precondition',
      `rmi ${reference}: pod ${user}${more} uses it; delete the pod first, or add --force`,
    );
  }
  if (!byId && !(await untag(cri, reference, image))) return print(`untagged ${reference}`);
  if (byId) await cri.image.removeImage({ image: { image: image.id } });
  print(`removed ${namesOf(image).join(', ')}`);
}

/**
 * Removes an image's name. Returns whether the image was deleted along with it. Container runtimes other than Podwright's can only delete
 * whole images.
 */
async function untag(cri: CriClient, reference: string, image: Image): Promise<boolean> {
  try {
    return (await cri.transfers.untag({ reference })).removed;
  } catch (error) {
    if (!isUnimplemented(error)) throw error;
    if (image.repoTags.length > 1)
      throw new PodwrightError(
        'unimplemented',
        `rmi ${reference}: this runtime removes an image with all its names (${image.repoTags.join(', ')}); name its id to do so`,
      );
    await cri.image.removeImage({ image: { image: reference } });
    return true;
  }
}
