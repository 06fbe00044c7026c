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
  /** Called with the number of bytes fetched so far, including those of earlier attempts. */
  onProgress: (bytes: number) => void;
  /** Called at the start of each attempt with the blob being downloaded. */
  onArriving?: ((blob: ArrivingBlob) => void) | undefined;
};

/**
 * Downloads a blob into the content store. An interrupted transfer is resumed as long as it makes progress between failures. If the bytes
 * turn out to be wrong, the download is restarted: once if some of them came from an earlier pull, and once per additional host.
 */
export async function downloadBlob(download: BlobDownload): Promise<void> {
  const { content, client, descriptor, signal } = download;
  let resumed = false;
  for (let wrong = 0; ; wrong++) {
    try {
      const start = (writer: ContentWriter) => {
        resumed ||= writer.resumed;
        download.onArriving?.(writer.arriving);
        return fill(writer, download, wrong);
      };
      await content.ingest(descriptor, start, signal);
      return download.onProgress(descriptor.size);
    } catch (error) {
      const last = wrong + 1 >= client.pullHosts + (resumed ? 1 : 0);
      if (last || errorCode(error) !== 'data_loss') throw error;
    }
  }
}

/** Downloads the bytes of the blob that the writer does not have yet. `rotation` is the index of the host to try first. */
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
      const request = { offset: writer.offset, rotation: rotation + failures, signal };
      for await (const chunk of await client.openBlob(descriptor, request)) {
        await writer.write(chunk);
        onProgress(writer.offset);
      }
      if (writer.offset < descriptor.size) throw truncated(descriptor, writer.offset);
    },
  });
}

/** Creates the error for a truncated response body. Without a Content-Length, the HTTP client does not detect truncation. */
function truncated({ digest, size }: Descriptor, offset: number): PodwrightError {
  const cause = Object.assign(new Error('the transfer ended early'), { code: 'ECONNRESET' });
  return new PodwrightError('unavailable', `fetch ${digest}: received only ${offset} of ${size} bytes`, { cause });
}
