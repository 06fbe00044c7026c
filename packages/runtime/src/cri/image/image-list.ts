import { type ImageFilter, type ImageHandlers, pages } from '@podwright/cri';
import type { ImageRecord } from '@podwright/images';
import { criImage } from '../messages/image-message.ts';
import type { CriServices } from '../services/services.ts';

type Needs = Pick<CriServices, 'images'>;

/** ListImages: lists all images, or only the image that the filter's reference resolves to. */
export function imageList({ images }: Needs): ImageHandlers['listImages'] {
  return async ({ filter }) => ({
    images: select(images, filter).map((record) => criImage(record, filter?.image)),
  });
}

/** StreamImages: the same list as ListImages, split into several messages. */
export function imageStream({ images }: Needs): ImageHandlers['streamImages'] {
  return async function* ({ filter }) {
    for (const page of pages(select(images, filter)))
      yield { images: page.map((record) => criImage(record, filter?.image)) };
  };
}

function select(images: Needs['images'], filter: ImageFilter | undefined): ImageRecord[] {
  const reference = filter?.image?.image ?? '';
  if (reference === '') return images.list();
  const image = images.find(reference);
  return image === undefined ? [] : [image];
}
