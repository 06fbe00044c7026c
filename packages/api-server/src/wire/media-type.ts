import { PROTOBUF_MEDIA_TYPE } from '@podwright/kube-schema';

/** The media types in which objects can be encoded, in the order in which upstream lists them in errors; the first one is the default. */
export const MEDIA_TYPES = ['application/json', 'application/yaml', PROTOBUF_MEDIA_TYPE] as const;

/** The media types of objects of custom kinds. */
export const CUSTOM_MEDIA_TYPES: readonly ObjectMediaType[] = ['application/json', 'application/yaml'];

export type ObjectMediaType = (typeof MEDIA_TYPES)[number];

/** The media types of PATCH bodies. */
export const PATCH_MEDIA_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
] as const;

/** The media types of patches to custom kinds. */
export const CUSTOM_PATCH_MEDIA_TYPES: readonly PatchMediaType[] = PATCH_MEDIA_TYPES.filter(
  (type) => type !== 'application/strategic-merge-patch+json',
);

export type PatchMediaType = (typeof PATCH_MEDIA_TYPES)[number];

/** Returns the media type from a Content-Type header, without parameters. */
export const mediaTypeOf = (contentType: string): string => contentType.split(';', 1)[0]!.trim().toLowerCase();
