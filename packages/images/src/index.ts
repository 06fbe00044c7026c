/** An image store: pulls, unpacks and garbage-collects OCI images. See the package's README. */
export { bytesForImages, filesForImages } from './content/disk-reserve.ts';
export { createImageService, type ImageServiceOptions, type Images } from './images.ts';
export { type ImageStore, type OpenImagesOptions, openImages } from './open-images.ts';
export type { RegistryAuth } from './registry/registry-auth.ts';
export type { RetryPolicy } from './registry/retry.ts';
export { writeLayerDifference } from './snapshots/layer-difference.ts';
export { type OpenedSnapshotter, openSnapshotter, type SnapshotterOptions } from './snapshots/open-snapshotter.ts';
export type { SnapshotInfo, SnapshotKind, Snapshotter, SnapshotUsage, UnpackTarget } from './snapshots/snapshotter.ts';
export type { ImageConfig } from './spec/manifest.ts';
export type { ImageRecord, ImageService, LoadedImage, StorageUsage, TransferProgress } from './store/image-service.ts';
export { LayerUnpacker } from './unpack/unpack-layer.ts';
export type { UnpackLayer, UnpackOptions, UnpackProgress, UnpackResult } from './unpack/unpack-options.ts';
