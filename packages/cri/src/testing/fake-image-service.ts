import { create } from '@bufbuild/protobuf';
import { PodwrightError } from '@podwright/base';
import { type Image, ImageSchema } from '../messages.ts';
import type { ImageHandlers } from '../server/handlers.ts';
import type { FakeStore } from './fake-store.ts';

/** The ImageService of a fake container runtime. `inRegistry` decides whether an image can be pulled. */
export function fakeImageService(store: FakeStore, inRegistry: (name: string) => boolean): Partial<ImageHandlers> {
  const find = (name: string) => store.images.get(name) ?? [...store.images.values()].find(({ id }) => id === name);
  return {
    async listImages({ filter }) {
      const name = filter?.image?.image ?? '';
      return { images: [...store.images.values()].filter((image) => name === '' || find(name) === image) };
    },
    imageStatus: async ({ image }) => ({ image: find(image?.image ?? '') }),
    async pullImage({ image }) {
      const name = image?.image ?? '';
      if (!inRegistry(name)) throw new PodwrightError('not_found', `pull ${name}: no such image in the registry`);
      const pulled = find(name) ?? fakeImage(name);
      store.images.set(name, pulled);
      return { imageRef: pulled.id };
    },
    async removeImage({ image }) {
      const removed = find(image?.image ?? '');
      for (const [name, candidate] of store.images) if (candidate === removed) store.images.delete(name);
      return {};
    },
    imageFsInfo: async () => ({
      imageFilesystems: [
        {
          timestamp: store.nowNs(),
          fsId: { mountpoint: '/fake' },
          usedBytes: { value: [...store.images.values()].reduce((sum, { size }) => sum + size, 0n) },
          inodesUsed: { value: BigInt(store.images.size) },
        },
      ],
    }),
  };
}

export function fakeImage(name: string): Image {
  const id = `sha256:${Buffer.from(name).toString('hex').padEnd(64, '0').slice(0, 64)}`;
  return create(ImageSchema, { id, repoTags: [name], size: 1_000_000n, spec: { image: name } });
}
