import { PodwrightError } from '@podwright/base';
import { type ImageHandlers, verboseInfo } from '@podwright/cri';
import { criImage } from '../messages/image-message.ts';
import type { CriServices } from '../services/services.ts';

/** ImageStatus: returns the image's status. If the image does not exist, the response is empty rather than an error. */
export function imageInspect({ images }: Pick<CriServices, 'images'>): ImageHandlers['imageStatus'] {
  return async ({ image, verbose }) => {
    const reference = image?.image ?? '';
    if (reference === '') throw new PodwrightError('invalid_argument', 'image status: no image is named');
    const record = images.find(reference);
    if (record === undefined) return {};
    const { chainId, config } = record;
    return {
      image: criImage(record, image),
      info: verboseInfo(verbose, () => ({ chainID: chainId, imageSpec: config })),
    };
  };
}
