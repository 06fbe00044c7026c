import { errorCode, PodwrightError } from '@podwright/base';
import type { ContentStore } from '../../content/content-store.ts';
import type { ContentWriter } from '../../content/content-writer.ts';
import type { Descriptor } from '../manifest.ts';
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
};

/**
 * Brings a blob into the content store. A cut transfer goes on where it was, for as long as bytes come between the cuts;
 * if the bytes of an earlier pull turn out to be wrong it starts anew, once.
 */
export async function downloadBlob(download: BlobDownload): Promise<void> {
  const { content, descriptor } = download;
  let resumed = false;
  const attempt = () =>
    content.ingest(
      descriptor,
      (writer) => {
        resumed = writer.resumed;
        return fill(writer, download);
      },
      download.signal,
    );
  try {
    await attempt();
  } catch (error) {
    if (!resumed || errorCode(error) !== 'data_loss') throw error;
    await attempt();
  }
  download.onProgress(descriptor.size);
}

async function fill(writer: ContentWriter, download: BlobDownload): Promise<void> {
  const { client, descriptor, retryPolicy: policy, signal, onProgress } = download;
  onProgress(writer.offset);
  if (writer.offset === descriptor.size) return;
  await withRetries({
    policy,
    signal,
    isRetryable: (error) => (writer.offset > 0 ? isTransientOnceStarted(error) : isTransient(error)),
    progress: () => writer.offset,
    attempt: async (failures) => {
      for await (const chunk of await client.openBlob(descriptor, writer.offset, failures)) {
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
