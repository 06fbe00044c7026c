import { isNotFound, PodwrightError } from '@podwright/base';
import type { ImageHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** RemoveImage: removes the image and all of its names. Succeeds if the image does not exist. */
export function imageRemove({ images }: Pick<CriServices, 'images'>): ImageHandlers['removeImage'] {
  return async ({ image }) => {
    const reference = image?.image ?? '';
    if (reference === '') throw new PodwrightError('invalid_argument', 'remove image: no image is named');
    await images.remove(reference).catch((error) => {
      if (!isNotFound(error)) throw error;
    });
    return {};
  };
}
