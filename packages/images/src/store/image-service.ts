import type { RegistryAuth } from '../registry/registry-auth.ts';
import type { SnapshotUsage } from '../snapshots/snapshotter.ts';
import type { ImageConfig } from '../spec/manifest.ts';

/** An image in the store. `id` is the digest of its config, as Docker and containerd's CRI plugin have it. */
export type ImageRecord = {
  id: string;
  /** `docker.io/library/busybox:1.36`, fully spelled. */
  repoTags: string[];
  /** `docker.io/library/busybox@sha256:…` */
  repoDigests: string[];
  /** Bytes of the manifests, the config and the packed layers. */
  sizeBytes: number;
  manifestDigest: string;
  config: ImageConfig;
  /** Chain id of the top layer: the snapshot that containers are prepared on. */
  chainId: string;
  pinned: boolean;
};

/** An image that a file had; `names` are those that the file, or the caller, gives it. */
export type LoadedImage = ImageRecord & { names: string[] };

/** What a pull or a load is doing now; one value a change, at most ~10 a second a layer. */
export type TransferProgress = {
  reference: string;
  phase: 'resolving' | 'downloading' | 'unpacking' | 'done' | 'failed';
  /** Bytes of all blobs that are fetched so far and in all (0 while unknown). */
  doneBytes: number;
  totalBytes: number;
  layersDone: number;
  layersTotal: number;
  error?: string;
};

/** What content and image snapshots take, what containers have written, and a directory on the file system of both. */
export type StorageUsage = { mountpoint: string; images: SnapshotUsage; containers: SnapshotUsage };

/**
 * Pulls, loads, lists and removes images. Pulls of one reference share the work. A digest or an id prefix
 * (at least 8 hex digits) is accepted wherever a reference is.
 * Errors: `invalid_argument` (a reference), `not_found` (no such image in the registry or the store),
 * `unauthenticated`/`permission_denied`, `unavailable` (registry down), `data_loss` (digest mismatch).
 */
export interface ImageService {
  pull(reference: string, options: { auth?: RegistryAuth; signal: AbortSignal }): Promise<ImageRecord>;
  /**
   * Loads every image of an OCI layout (directory or tar) or a Docker archive, plain or packed (gzip, zstd); all or none. `name` names
   * the only image, or gives the repository to which the tags in the file belong.
   */
  load(path: string, options: { signal: AbortSignal; name?: string }): Promise<LoadedImage[]>;
  /**
   * Writes images to one tar file, an OCI layout that Docker can load as well; it replaces what is at `path`.
   * `failed_precondition` if packed layers are gone.
   */
  save(references: string[], path: string, options: { signal: AbortSignal }): Promise<void>;
  /** By reference, digest, id or id prefix. */
  find(reference: string): ImageRecord | undefined;
  list(): ImageRecord[];
  /** Removes an image (by id: with all its names; by reference: as the CRI asks, all names too) and what only it used. */
  remove(reference: string): Promise<void>;
  /** Takes one name off an image, and returns whether the image went with it: it does with its last tag. `not_found` for no name. */
  untag(name: string): Promise<boolean>;
  /**
   * Removes content and snapshots that no image, no running pull and no other snapshot needs. Called after each removal of an
   * image; call it after the last container of a removed image has gone, too.
   */
  collectGarbage(): Promise<void>;
  /** The same, with what failed pulls keep for the next attempt. */
  clean(): Promise<void>;
  /** Space on the disk that all of it takes; that of containers may be some seconds old. */
  usage(): Promise<StorageUsage>;
  /** Progress of every pull and load from now on. */
  transfers(signal: AbortSignal): AsyncIterable<TransferProgress>;
}
