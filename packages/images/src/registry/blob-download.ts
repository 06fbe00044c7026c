import { errorCode, PodwrightError } from '@podwright/base';
import type { ArrivingBlob } from '../content/arriving-blob.ts';
import type { ContentStore } from '../content/content-store.ts';
import type { ContentWriter } from '../content/content-writer.ts';
import type { Descriptor } from '../spec/manifest.ts';
import type { RegistryClient } from './registry-client.ts';
import { isTransient, isTransientOnceStarted, type RetryPolicy, withRetries } from './retry.ts';

export type BlobDownload = {
  client: RegistryClient;
  content: ContentStore;
  descriptor: Descriptor;
  retryPolicy: RetryPolicy;
  signal: AbortSignal;
  /** Called with the bytes that are there, also before the first one comes. */
  onProgress: (bytes: number) => void;
  /** Called with the blob of each attempt, before its bytes come. */
  onArriving?: ((blob: ArrivingBlob) => void) | undefined;
};

/**
 * Brings a blob into the content store. A cut transfer goes on where it was, for as long as bytes come between the cuts.
 * If the bytes turn out to be wrong it starts anew: once if some were of an earlier pull, and with each further host.
 */
export async function downloadBlob(download: BlobDownload): Promise<void> {
  const { content, client, descriptor, signal } = download;
  let resumed = false;
  for (let wrong = 0; ; wrong++) {
    try {
      const whole = (writer: ContentWriter) => {
        resumed ||= writer.resumed;
        download.onArriving?.(writer.arriving);
        return fill(writer, download, wrong);
      };
      await content.ingest(descriptor, whole, signal);
      return download.onProgress(descriptor.size);
    } catch (error) {
      const last = wrong + 1 >= client.pullHosts + (resumed ? 1 : 0);
      if (last || errorCode(error) !== 'data_loss') throw error;
    }
  }
}

/** `rotation` says which host is asked first. */
async function fill(writer: ContentWriter, download: BlobDownload, rotation: number): Promise<void> {
  const { client, descriptor, retryPolicy: policy, signal, onProgress } = download;
  onProgress(writer.offset);
  if (writer.offset === descriptor.size) return;
  await withRetries({
    policy,
    signal,
    isRetryable: (error) => (writer.offset > 0 ? isTransientOnceStarted(error) : isTransient(error)),
    progress: () => writer.offset,
    attempt: async (failures) => {
      const wanted = { offset: writer.offset, rotation: rotation + failures, signal };
      for await (const chunk of await client.openBlob(descriptor, wanted)) {
        await writer.write(chunk);
        onProgress(writer.offset);
      }
      if (writer.offset < descriptor.size) throw cutShort(descriptor, writer.offset);
    },
  });
}

/** A transfer without a length may end early without the connection saying so. */
function cutShort({ digest, size }: Descriptor, offset: number): PodwrightError {
  const cause = Object.assign(new Error('the transfer ended early'), { code: 'ECONNRESET' });
  return new PodwrightError('unavailable', `fetch ${digest}: only ${offset} of ${size} bytes came`, { cause });
}
