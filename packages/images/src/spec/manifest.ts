import { counted, PodwrightError } from '@podwright/base';
import * as z from 'zod';
import { isDigest } from '../content/digest.ts';
import { manifestLimits } from '../limits.ts';
import { boundedList, decode, keySet, stringList, stringMap, textOr } from './decode-json.ts';
import { isLayer, mediaTypes } from './media-types.ts';

const descriptorSchema = z.object({
  mediaType: textOr(''),
  digest: z.string().refine(isDigest, 'is not a digest that can be verified'),
  size: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  annotations: stringMap(manifestLimits.annotations).nullish(),
  platform: z
    .object({ os: textOr(''), architecture: textOr(''), variant: optional(z.string()) })
    .nullish()
    .transform((platform) => (platform?.os || platform?.architecture ? platform : undefined)),
});

/** A reference to a blob (image-spec v1, descriptor.md). `size` is in bytes. */
export type Descriptor = z.infer<typeof descriptorSchema>;

const manifestSchema = z.object({
  schemaVersion: z.number().nullish(),
  mediaType: z.string().nullish(),
  config: optional(descriptorSchema),
  layers: boundedList(descriptorSchema, manifestLimits.indexEntries).nullish(),
  manifests: boundedList(descriptorSchema, manifestLimits.indexEntries).nullish(),
  fsLayers: optional(z.array(z.unknown())),
});

const { configEntries } = manifestLimits;
const list = optional(stringList(configEntries));
const text = optional(z.string());

function optional<T>(schema: z.ZodType<T>): z.ZodType<T | undefined> {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** Schema for the part of an image config that is stored (image-spec v1, config.md). It also accepts its own output. */
export const imageConfigSchema = z.object({
  architecture: textOr(''),
  os: textOr('linux'),
  variant: text,
  created: text,
  config: z
    .object({
      User: text,
      Env: list,
      Entrypoint: list,
      Cmd: list,
      Volumes: optional(keySet(manifestLimits.volumes)),
      WorkingDir: text,
      Labels: optional(stringMap(configEntries)),
      StopSignal: text,
    })
    .nullish()
    .transform((config) => config ?? {}),
  rootfs: z.object(
    { type: textOr('layers'), diff_ids: optional(stringList(configEntries)) },
    'it names no layers of a root file system: this is an artifact, not an image',
  ),
});

/** The part of an OCI image config used by the container runtime (image-spec v1, config.md). */
export type ImageConfig = {
  architecture: string;
  os: string;
  created?: string;
  config: {
    User?: string;
    Env?: string[];
    Entrypoint?: string[];
    Cmd?: string[];
    Volumes?: Record<string, object>;
    WorkingDir?: string;
    Labels?: Record<string, string>;
    StopSignal?: string;
  };
  rootfs: { type: string; diff_ids: string[] };
};

export type ImageManifest = { kind: 'manifest'; mediaType: string; config: Descriptor; layers: Descriptor[] };
export type ImageIndex = { kind: 'index'; mediaType: string; manifests: Descriptor[] };

/**
 * Decodes an OCI or Docker manifest or index. `mediaType` comes from the response or the descriptor, and must match the content. Throws
 * `invalid_argument`; `what` is the prefix of the error message.
 */
export function parseManifest(data: Uint8Array, mediaType: string, what: string): ImageManifest | ImageIndex {
  const value = decode(manifestSchema, data, what);
  const type = value.mediaType || mediaType;
  const fail = (why: string) => new PodwrightError('invalid_argument', `${what}: ${why}`);
  if (value.schemaVersion === 1 || value.fsLayers !== undefined || isSchema1(type)) {
    throw fail('Docker image manifests of schema 1 are not supported; push the image again with a current tool');
  }
  // reject a document that is both a manifest and an index, because tools disagree on how to interpret it (CVE-2021-41190)
  const isIndex = value.manifests != null;
  if (isIndex && (value.layers != null || value.config !== undefined)) throw fail('it is both an index and a manifest');
  if (isIndex) {
    if (type === mediaTypes.ociManifest || type === mediaTypes.dockerManifest)
      throw fail(`it is an index, not ${type}`);
    return { kind: 'index', mediaType: type || mediaTypes.ociIndex, manifests: value.manifests ?? [] };
  }
  if (value.config === undefined) throw fail('it is neither an image manifest nor an index');
  if (type === mediaTypes.ociIndex || type === mediaTypes.dockerList) throw fail(`it is a manifest, not ${type}`);
  const layers = value.layers ?? [];
  checkLayers(layers, fail);
  return { kind: 'manifest', mediaType: type || mediaTypes.ociManifest, config: value.config, layers };
}

/** Decodes an image config, which must contain `layerCount` diff IDs. Throws `invalid_argument`. */
export function parseImageConfig(
  data: Uint8Array,
  layerCount: number,
  what: string,
): ImageConfig & { variant?: string } {
  const value = decode(imageConfigSchema, data, what);
  checkStoredSize(value.config, what);
  const diffIds = value.rootfs.diff_ids ?? [];
  if (diffIds.length !== layerCount) {
    throw new PodwrightError(
      'invalid_argument',
      `${what}: it has ${counted(diffIds.length, 'diff id')} for ${counted(layerCount, 'layer')}`,
    );
  }
  // diff IDs must be sha256: all tools write sha256, and no other digest is computed when a layer is unpacked
  const wrong = diffIds.find((diffId) => !isDigest(diffId) || !diffId.startsWith('sha256:'));
  if (wrong !== undefined) {
    throw new PodwrightError('invalid_argument', `${what}: diff id "${wrong.slice(0, 100)}" is not a sha256 digest`);
  }
  return { ...value, rootfs: { type: value.rootfs.type, diff_ids: diffIds } };
}

/** Limits the stored part of a config, which is held in memory once for the image and once for each of its containers. */
function checkStoredSize(config: ImageConfig['config'], what: string): void {
  const bytes = Buffer.byteLength(JSON.stringify(config));
  if (bytes <= manifestLimits.storedConfigBytes) return;
  throw new PodwrightError(
    'invalid_argument',
    `${what}: environment, command, volumes and labels take ${bytes} bytes, more than ${manifestLimits.storedConfigBytes}`,
  );
}

function checkLayers(layers: Descriptor[], fail: (why: string) => PodwrightError): void {
  if (layers.length > manifestLimits.layers) {
    throw fail(`it has ${layers.length} layers, more than the ${manifestLimits.layers} that can be mounted`);
  }
  const foreign = layers.find(({ mediaType }) => !isLayer(mediaType));
  if (foreign !== undefined) {
    throw fail(
      `it is not a container image: its layer ${foreign.digest} is of the type "${foreign.mediaType.slice(0, 100)}"`,
    );
  }
}

function isSchema1(mediaType: string): boolean {
  return mediaType === mediaTypes.dockerSchema1 || mediaType === mediaTypes.dockerSignedSchema1;
}
