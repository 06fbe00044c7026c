import { PodwrightError } from '@podwright/base';
import * as z from 'zod';
import { isDigest } from '../content/digest.ts';
import { isLayer, mediaTypes } from './media-types.ts';
import type { ImageConfig } from './oci-image.ts';

/** Bounds on what a registry or an archive may hand us. */
export const manifestLimits = {
  /** containerd and the registries have the same bound. */
  manifestBytes: 4 << 20,
  configBytes: 8 << 20,
  /** Indexes inside indexes. */
  indexDepth: 3,
  /** Entries of an index without a platform that are looked into. */
  unnamedPlatforms: 10,
  /** overlayfs takes at most 500 lower directories. */
  layers: 500,
};

const descriptorSchema = z.object({
  mediaType: z.string().default(''),
  digest: z.string().refine(isDigest, 'is not a digest that can be verified'),
  size: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  annotations: z.record(z.string(), z.string()).nullish(),
  platform: z
    .object({ os: z.string().default(''), architecture: z.string().default(''), variant: z.string().optional() })
    .nullish()
    .transform((platform) => (platform?.os || platform?.architecture ? platform : undefined)),
});

/** Points at a blob (image-spec v1, descriptor.md). `size` is in bytes. */
export type Descriptor = z.infer<typeof descriptorSchema>;

const manifestSchema = z.object({
  schemaVersion: z.number().optional(),
  mediaType: z.string().optional(),
  config: descriptorSchema.optional(),
  layers: z.array(descriptorSchema).nullish(),
  manifests: z.array(descriptorSchema).nullish(),
  fsLayers: z.array(z.unknown()).optional(),
});

const stringList = z
  .array(z.string())
  .nullish()
  .transform((list) => list ?? undefined);
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? undefined);
const stringMap = z
  .record(z.string(), z.string())
  .nullish()
  .transform((map) => map ?? undefined);
const keySet = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((map) => (map ? Object.fromEntries(Object.keys(map).map((key) => [key, {}])) : undefined));

const configSchema = z.object({
  architecture: z.string().default(''),
  os: z.string().default('linux'),
  variant: z.string().optional(),
  created: z
    .string()
    .nullish()
    .transform((created) => created ?? undefined),
  config: z
    .object({
      User: text,
      ExposedPorts: keySet,
      Env: stringList,
      Entrypoint: stringList,
      Cmd: stringList,
      Volumes: keySet,
      WorkingDir: text,
      Labels: stringMap,
      StopSignal: text,
    })
    .nullish()
    .transform((config) => config ?? {}),
  rootfs: z.object({ type: z.string().default('layers'), diff_ids: z.array(z.string()).nullish() }),
});

export type ImageManifest = { kind: 'manifest'; mediaType: string; config: Descriptor; layers: Descriptor[] };
export type ImageIndex = { kind: 'index'; mediaType: string; manifests: Descriptor[] };

/**
 * Decodes a manifest or an index, OCI or Docker. `mediaType` is what the registry or the descriptor said; the content
 * must agree with it. Throws `invalid_argument` that begins with `what`.
 */
export function parseManifest(data: Uint8Array, mediaType: string, what: string): ImageManifest | ImageIndex {
  const value = decode(manifestSchema, data, what);
  const type = value.mediaType || mediaType;
  const fail = (why: string) => new PodwrightError('invalid_argument', `${what}: ${why}`);
  if (value.schemaVersion === 1 || value.fsLayers !== undefined || isSchema1(type)) {
    throw fail('Docker image manifests of schema 1 are not supported; push the image again with a current tool');
  }
  // A document that is both would be read differently by different tools (CVE-2021-41190).
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

/** Decodes an image config; `layerCount` is how many diff ids it must have. Throws `invalid_argument`. */
export function parseImageConfig(
  data: Uint8Array,
  layerCount: number,
  what: string,
): ImageConfig & { variant?: string } {
  const value = decode(configSchema, data, what);
  const diffIds = value.rootfs.diff_ids ?? [];
  if (diffIds.length !== layerCount) {
    throw new PodwrightError('invalid_argument', `${what}: it has ${diffIds.length} diff ids for ${layerCount} layers`);
  }
  // sha256 is what everybody writes, and what a layer is checked against when it is unpacked
  const wrong = diffIds.find((diffId) => !isDigest(diffId) || !diffId.startsWith('sha256:'));
  if (wrong !== undefined) {
    throw new PodwrightError('invalid_argument', `${what}: diff id "${wrong.slice(0, 100)}" is not a sha256 digest`);
  }
  return { ...value, rootfs: { type: value.rootfs.type, diff_ids: diffIds } };
}

/** Decodes JSON against a schema; the first mistakes are named by path. */
export function decode<T>(schema: z.ZodType<T>, data: Uint8Array, what: string): T {
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(data).toString('utf8'));
  } catch (error) {
    throw new PodwrightError('invalid_argument', `${what}: not JSON: ${(error as Error).message.slice(0, 200)}`);
  }
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const mistakes = result.error.issues.slice(0, 3).map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new PodwrightError('invalid_argument', `${what}: ${mistakes.join('; ')}`);
}

function checkLayers(layers: Descriptor[], fail: (why: string) => PodwrightError): void {
  if (layers.length > manifestLimits.layers) {
    throw fail(`it has ${layers.length} layers, more than the ${manifestLimits.layers} that can be mounted`);
  }
  const foreign = layers.find(({ mediaType }) => !isLayer(mediaType));
  if (foreign !== undefined) {
    throw fail(`it is not a container image: its layer ${foreign.digest} is of the type "${foreign.mediaType}"`);
  }
}

function isSchema1(mediaType: string): boolean {
  return mediaType === mediaTypes.dockerSchema1 || mediaType === mediaTypes.dockerSignedSchema1;
}
