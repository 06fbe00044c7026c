/** Manifest media types: image-spec v1 (media-types.md) and Docker's image manifest version 2, schema 2. */
export const mediaTypes = {
  ociIndex: 'application/vnd.oci.image.index.v1+json',
  ociManifest: 'application/vnd.oci.image.manifest.v1+json',
  ociConfig: 'application/vnd.oci.image.config.v1+json',
  ociLayer: 'application/vnd.oci.image.layer.v1.tar',
  dockerList: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
  dockerConfig: 'application/vnd.docker.container.image.v1+json',
  dockerSchema1: 'application/vnd.docker.distribution.manifest.v1+json',
  dockerSignedSchema1: 'application/vnd.docker.distribution.manifest.v1+prettyjws',
} as const;

/** The Accept header for manifest requests. */
export const ACCEPTED_MANIFESTS = [
  mediaTypes.ociIndex,
  mediaTypes.dockerList,
  mediaTypes.ociManifest,
  mediaTypes.dockerManifest,
].join(', ');

const LAYER_PATTERNS = [
  /^application\/vnd\.oci\.image\.layer\.(?:nondistributable\.)?v1\.tar(?:\+gzip|\+zstd)?$/,
  /^application\/vnd\.docker\.image\.rootfs\.(?:diff|foreign\.diff)\.tar(?:\.gzip|\.zstd)?$/,
];

/** Whether this is the media type of a file system layer that can be unpacked, as opposed to an encrypted layer or an artifact. */
export function isLayer(mediaType: string): boolean {
  return LAYER_PATTERNS.some((pattern) => pattern.test(mediaType));
}
