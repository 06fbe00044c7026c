import { PodwrightError } from '@podwright/base';
import type { ImageRecord, ImageService } from '@podwright/images';

/** The image of a reference or id; one that was not pulled is a `not_found`. */
export function requireImage(images: ImageService, reference: string): ImageRecord {
  const image = images.find(reference);
  if (image === undefined) throw new PodwrightError('not_found', `image "${reference}" not found; pull it first`);
  return image;
}
