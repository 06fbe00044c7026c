import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Digest } from '../../packages/images/src/content/digest.ts';
import type { BlobSink } from './made-image.ts';

/** Writes an OCI image layout to a directory, blob by blob. */
export class LayoutDirectory implements BlobSink {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
    mkdirSync(join(path, 'blobs/sha256'), { recursive: true });
    writeFileSync(join(path, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  }

  addBlob(data: Buffer): { digest: string; size: number } {
    const digest = sha256Digest(data);
    this.replaceBlob(digest, data);
    return { digest, size: data.length };
  }

  addManifest(_tag: string, value: object, mediaType: string): { digest: string; size: number; mediaType: string } {
    return { ...this.addBlob(Buffer.from(JSON.stringify(value))), mediaType };
  }

  writeIndex(manifests: object[]): void {
    writeFileSync(join(this.path, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }));
  }

  /** Replaces the content of a blob in the layout, or removes the blob if `data` is undefined. */
  replaceBlob(digest: string, data: Buffer | undefined): void {
    const path = join(this.path, 'blobs', digest.replace(':', '/'));
    if (data === undefined) rmSync(path);
    else writeFileSync(path, data);
  }
}
