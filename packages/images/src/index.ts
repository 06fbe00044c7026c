/** An image store: pulls, unpacks and garbage-collects OCI images. See the package's README. */

// Layers: unpacking, disk usage of directory trees, and the disk space that images may use.
export { bytesForImages, filesForImages } from './content/disk-reserve.ts';
// The image store: `openImages` opens it stand-alone, `createImageService` composes it from the caller's parts.
export { createImageService, type ImageServiceOptions, type Images } from './images.ts';
export { type ImageStore, type OpenImagesOptions, openImages } from './open-images.ts';
export type { RegistryAuth } from './registry/registry-auth.ts';
export type { RetryPolicy } from './registry/retry.ts';

// Snapshots: the contract, and the built-in snapshotters.
export { type OpenedSnapshotter, openSnapshotter, type SnapshotterOptions } from './snapshots/open-snapshotter.ts';
export type { SnapshotInfo, SnapshotKind, Snapshotter, SnapshotUsage, UnpackTarget } from './snapshots/snapshotter.ts';
export type { ImageConfig } from './spec/manifest.ts';
export type { ImageRecord, ImageService, LoadedImage, StorageUsage, TransferProgress } from './store/image-service.ts';
export { LayerUnpacker } from './unpack/unpack-layer.ts';
export type { UnpackLayer, UnpackOptions, UnpackProgress, UnpackResult } from './unpack/unpack-options.ts';
