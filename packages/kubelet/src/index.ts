export * from './api/quantity.ts';
export * from './api/types.ts';
export * from './config/local-objects.ts';
export * from './config/manifest.ts';
export * from './config/manifest-directory.ts';
export * from './config/manifest-url.ts';
export * from './config/pod-config.ts';
export * from './config/pod-update.ts';
