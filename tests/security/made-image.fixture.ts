import { join } from 'node:path';
import type { ExampleImageOptions } from '../../scripts/example-image.ts';
import { makeBusyboxImage } from '../fixtures/busybox-image.ts';
import type { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

/** Loads a busybox image with these settings or files; returns its name. `tag` must be unique. */
export async function loadImage(
  { cri, place }: RuntimeUnderTest,
  tag: string,
  options: ExampleImageOptions,
): Promise<string> {
  const name = `localhost/attack/image:${tag}`;
  const { layout } = await makeBusyboxImage(join(place.directory, 'image', tag), { ...options, name });
  for await (const _ of cri.transfers.load({ path: layout }));
  return name;
}
