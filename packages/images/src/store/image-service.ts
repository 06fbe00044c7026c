import type { RegistryAuth } from '../registry/registry-auth.ts';
import type { SnapshotUsage } from '../snapshots/snapshotter.ts';
import type { ImageConfig } from '../spec/manifest.ts';

/** An image in the store. `id` is the digest of its config, as in Docker and containerd's CRI plugin. */
export type ImageRecord = {
  id: string;
  /** Canonical names with tags, such as `docker.io/library/busybox:1.36`. */
  repoTags: string[];
  /** Canonical names with digests, such as `docker.io/library/busybox@sha256:…`. */
  repoDigests: string[];
  /** Bytes of the manifests, the config and the compressed layers. */
  sizeBytes: number;
  manifestDigest: string;
  config: ImageConfig;
  /** Chain id of the top layer: the key of the snapshot on which containers are prepared. */
  chainId: string;
  pinned: boolean;
};

/** An image that was loaded from a file. `names` are those from the file or the caller. */
export type LoadedImage = ImageRecord & { names: string[] };

/** Progress of a pull or a load; published on each change, at most about 10 times a second per layer. */
export type TransferProgress = {
  reference: string;
  phase: 'resolving' | 'downloading' | 'unpacking' | 'done' | 'failed';
  /** Bytes of all blobs fetched so far, and in total (0 while unknown). */
  doneBytes: number;
  totalBytes: number;
  layersDone: number;
  layersTotal: number;
  error?: string;
};

/** Disk usage of images (content and snapshots) and of the containers' writable layers. `mountpoint` is on the file system of both. */
export type StorageUsage = { mountpoint: string; images: SnapshotUsage; containers: SnapshotUsage };

/**
 * Pulls, loads, lists and removes images. Concurrent pulls of one reference share the work. A digest or an id prefix
 * (at least 8 hex digits) is accepted wherever a reference is.
 * Errors: `invalid_argument` (a reference), `not_found` (no such image in the registry or the store),
 * `unauthenticated`/`permission_denied`, `unavailable` (registry down), `data_loss` (digest mismatch).
 */
export interface ImageService {
  pull(reference: string, options: { auth?: RegistryAuth; signal: AbortSignal }): Promise<ImageRecord>;
  /**
   * Loads all images of an OCI layout (directory or tar) or a Docker archive, uncompressed, gzip or zstd; on an error, none. `name` is the
   * name of the only image, or the repository for the tags in the file.
   */
  load(path: string, options: { signal: AbortSignal; name?: string }): Promise<LoadedImage[]>;
  /**
   * Writes images to one tar file, an OCI layout that Docker can load as well. Replaces an existing file at `path`.
   * Rejects with `failed_precondition` if compressed layers are missing.
   */
  save(references: string[], path: string, options: { signal: AbortSignal }): Promise<void>;
  /** Finds an image by reference, digest, id or id prefix. */
  find(reference: string): ImageRecord | undefined;
  list(): ImageRecord[];
  /** Removes an image with all its names, as the CRI specifies, and the content that only this image needs. */
  remove(reference: string): Promise<void>;
  /**
   * Removes one name from its image, and the image itself with its last tag. Resolves to whether the image was removed. Rejects with
   * `not_found` if no image has the name.
   */
  untag(name: string): Promise<boolean>;
  /**
   * Removes content and snapshots that no image, running pull or other snapshot needs. Runs automatically after each removal of an
   * image; the caller must also call it after removing the last container of a removed image.
   */
  collectGarbage(): Promise<void>;
  /** Like `collectGarbage`, but also removes the content that failed pulls have retained for the next attempt. */
  clean(): Promise<void>;
  /** Disk usage. The usage of containers is cached for ten seconds. */
  usage(): Promise<StorageUsage>;
  /** Progress of all pulls and loads from now on, until the signal aborts. */
  transfers(signal: AbortSignal): AsyncIterable<TransferProgress>;
}
