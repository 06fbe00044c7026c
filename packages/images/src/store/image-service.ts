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
  /** Total size of the manifests, the config and the compressed layers. */
  sizeBytes: number;
  manifestDigest: string;
  config: ImageConfig;
  /** Chain ID of the top layer: the key of the snapshot that containers are prepared on. */
  chainId: string;
  /** Whether the image has a name that was loaded and not pulled since, so that a registry might not have it. */
  isLoaded: boolean;
  pinned: boolean;
};

/** An image that was loaded from a file. `names` come from the file or the caller. */
export type LoadedImage = ImageRecord & { names: string[] };

/** Progress of a pull or load. Published on each change, but at most about 10 times a second per layer. */
export type TransferProgress = {
  reference: string;
  phase: 'resolving' | 'downloading' | 'unpacking' | 'done' | 'failed';
  /** Number of bytes fetched so far, and in total (0 while unknown), across all blobs. */
  doneBytes: number;
  totalBytes: number;
  layersDone: number;
  layersTotal: number;
  error?: string;
};

/**
 * Disk usage of images (content and snapshots) and of the containers' writable layers. `mountpoint` is a directory on the file system of the
 * snapshots, as in containerd.
 */
export type StorageUsage = { mountpoint: string; images: SnapshotUsage; containers: SnapshotUsage };

/**
 * Pulls, loads, lists and removes images. Concurrent pulls of the same reference share the work. Wherever a reference is accepted, so is a
 * digest or an ID prefix (at least 8 hex digits). Errors: `invalid_argument` (invalid reference), `not_found` (no such image in the
 * registry or the store), `unauthenticated`/`permission_denied`, `unavailable` (registry down), `data_loss` (digest mismatch).
 */
export interface ImageService {
  pull(reference: string, options: { auth?: RegistryAuth; signal: AbortSignal }): Promise<ImageRecord>;
  /**
   * Loads all images of an OCI layout (directory or tar) or a Docker archive (uncompressed, gzip or zstd), or none on error. `name` is the
   * name of the only image, or the repository for the tags in the file.
   */
  load(path: string, options: { signal: AbortSignal; name?: string }): Promise<LoadedImage[]>;
  /**
   * Writes images to a single tar file, an OCI layout that Docker can also load. Replaces any existing file at `path`. Rejects with
   * `failed_precondition` if compressed layers are missing.
   */
  save(references: string[], path: string, options: { signal: AbortSignal }): Promise<void>;
  /** Finds an image by reference, digest, ID or ID prefix. */
  find(reference: string): ImageRecord | undefined;
  list(): ImageRecord[];
  /** Removes an image with all its names, as the CRI specifies, and the content that no other image needs. */
  remove(reference: string): Promise<void>;
  /**
   * Removes a name from its image. Removing the last tag of a repository also removes the image's digests in that repository, and removing
   * the last name removes the image. Resolves to whether the image was removed. Rejects with `not_found` if no image has the name.
   */
  untag(name: string): Promise<boolean>;
  /**
   * Removes content and snapshots that no image, running pull or other snapshot needs. Runs automatically whenever an image is removed; the
   * caller must also call it after removing the last container of a removed image.
   */
  collectGarbage(): Promise<void>;
  /** Like `collectGarbage`, but also removes content retained from failed pulls. */
  clean(): Promise<void>;
  /** Returns the disk usage. The containers' usage is cached for ten seconds. */
  usage(): Promise<StorageUsage>;
  /** Streams the progress of all pulls and loads from now on, until the signal aborts. */
  transfers(signal: AbortSignal): AsyncIterable<TransferProgress>;
}
