export * from './content/disk-reserve.ts';
export * from './images.ts';
export * from './snapshots/disk-usage.ts';
export * from './snapshots/open-snapshotter.ts';
export * from './snapshots/snapshotter.ts';
export * from './spec/oci-image.ts';
export * from './store/image-service.ts';
export * from './unpack/unpack-layer.ts';
