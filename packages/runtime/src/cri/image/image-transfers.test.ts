import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Broadcast } from '@podwright/base';
import type { TransferProgress } from '@podwright/images';
import type { CriServices } from '../services/services.ts';
import { imageTransfers } from './image-transfers.ts';

test('a load whose client reads too slowly drops progress updates, and still returns the loaded images', async () => {
  const broadcast = new Broadcast<TransferProgress>();
  const images = {
    transfers: (signal: AbortSignal) => broadcast.subscribe(signal, 2),
    load: async (reference: string) => {
      for (let doneBytes = 0; doneBytes < 9; doneBytes++)
        broadcast.publish({ reference, doneBytes, totalBytes: 9 } as TransferProgress);
      return [];
    },
  } as unknown as CriServices['images'];
  const { load } = imageTransfers({ images });
  const events: (string | undefined)[] = [];
  const request = { path: '/images.tar', name: '' } as Parameters<NonNullable<typeof load>>[0];
  const context = { signal: new AbortController().signal } as Parameters<NonNullable<typeof load>>[1];
  for await (const { event } of load!(request, context)) events.push(event?.case);
  assert.deepEqual(events, ['progress', 'progress', 'loaded']);
});
