import { createHash } from 'node:crypto';
import { CONTAINER_FILE, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import {
  allContainers,
  type ConfigMap,
  type ConfigMapProjection,
  type DownwardApiFile,
  everyContainer,
  type KeyToPath,
  type Pod,
  type PodObjects,
  type Secret,
  type SecretProjection,
  type ServiceAccountTokenProjection,
  type Volume,
  type VolumeProjection,
  withPodLimits,
} from '@podwright/kube-api';
import { containerResource, type NodeAllocatable } from '../downward-api/container-resource.ts';
import { podField } from '../downward-api/pod-fields.ts';

/** A file in a volume. `uid`: its owner, root by default. */
export type PayloadFile = { data: Buffer; mode: number; uid?: number };

/** A volume's files, by path relative to its root directory. */
export type Payload = Map<string, PayloadFile>;

/** Returns a hash of a payload and the options for writing it. */
export function contentHash(payload: Payload, options: object): string {
  const hash = createHash('sha256').update(JSON.stringify(options));
  for (const [path, { data, mode, uid }] of payload)
    hash.update(JSON.stringify([path, mode, uid ?? 0, data.length])).update(data);
  return hash.digest('base64');
}

/** A service account token's audience and lifetime. The default audience is the API server. */
export type TokenSpec = Pick<ServiceAccountTokenProjection, 'audience' | 'expirationSeconds'>;

/** Provides pods' service account tokens. */
export interface PodTokens {
  /** Returns a valid token for the pod's service account, bound to the pod. Rejects if there is none. */
  token(pod: Pod, spec: TokenSpec, signal: AbortSignal): Promise<string>;
}

export type PayloadInput = {
  pod: Pod;
  objects: PodObjects;
  nodeAllocatable: NodeAllocatable;
  /** The tokens, by the projected source requesting them. */
  tokens?: ReadonlyMap<ServiceAccountTokenProjection, string>;
};

/**
 * Returns the current files of a configMap, secret, downwardAPI or projected volume. Throws `failed_precondition` if an object or key is
 * missing.
 */
export function volumePayload(volume: Volume, input: PayloadInput): Payload {
  const { configMap, secret, downwardAPI, projected } = volume;
  if (configMap) return projectionPayload({ configMap }, configMap.defaultMode, input);
  if (secret) return projectionPayload({ secret: { ...secret, name: secret.secretName } }, secret.defaultMode, input);
  if (downwardAPI) return projectionPayload({ downwardAPI }, downwardAPI.defaultMode, input);
  const parts = (projected?.sources ?? []).map((source) => projectionPayload(source, projected?.defaultMode, input));
  return new Map(parts.flatMap((part) => [...part]));
}

function projectionPayload(source: VolumeProjection, defaultMode: number | undefined, input: PayloadInput): Payload {
  const mode = defaultMode ?? CONTAINER_FILE;
  if (source.configMap) return objectPayload('ConfigMap', { ...source.configMap, mode }, input);
  if (source.secret) return objectPayload('Secret', { ...source.secret, mode }, input);
  if (source.serviceAccountToken) return tokenPayload(source.serviceAccountToken, mode, input);
  const files = source.downwardAPI?.items ?? [];
  return new Map(files.map((file) => [file.path, { data: downwardText(file, input), mode: file.mode ?? mode }]));
}

/**
 * Returns the token's file, readable only by the user shared by all containers, or by the fsGroup. If the pod has neither, it gets the
 * volume's mode.
 */
function tokenPayload(source: ServiceAccountTokenProjection, mode: number, { pod, tokens }: PayloadInput): Payload {
  const token = tokens?.get(source);
  if (token === undefined)
    throw new PodwrightError('failed_precondition', 'serviceAccountToken needs an API server, which signs tokens');
  const uid = onlyUser(pod);
  const isPrivate = uid !== undefined || pod.spec.securityContext?.fsGroup !== undefined;
  return new Map([[source.path, { data: Buffer.from(token), mode: isPrivate ? PRIVATE_FILE : mode, uid }]]);
}

/** Returns the user that all of the pod's containers run as, if set and the same for all of them (upstream's FsUserFrom). */
function onlyUser({ spec }: Pod): number | undefined {
  const users = new Set(
    everyContainer(spec).map(({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser),
  );
  return users.size === 1 ? [...users][0] : undefined;
}

type ObjectSource = (ConfigMapProjection | SecretProjection) & { mode: number };

function objectPayload(kind: 'ConfigMap' | 'Secret', source: ObjectSource, input: PayloadInput): Payload {
  const { namespace } = input.pod.metadata;
  const object = input.objects.of(input.pod).get(kind, namespace, source.name);
  if (object === undefined) {
    if (source.optional === true) return new Map();
    throw new PodwrightError('failed_precondition', `${kind.toLowerCase()} "${source.name}" not found`);
  }
  const content = contentOf(object);
  const items: KeyToPath[] = source.items ?? [...content.keys()].map((key) => ({ key, path: key }));
  const payload: Payload = new Map();
  for (const { key, path, mode } of items) {
    const data = content.get(key);
    if (data !== undefined) payload.set(path, { data, mode: mode ?? source.mode });
    else if (source.optional !== true) {
      const missing =
        kind === 'ConfigMap' ? 'configmap references non-existent config key' : 'references non-existent secret key';
      throw new PodwrightError('failed_precondition', `${missing}: ${key}`);
    }
  }
  return payload;
}

function contentOf(object: ConfigMap | Secret): Map<string, Buffer> {
  const plain = object.kind === 'ConfigMap' ? object.data : {};
  const encoded = object.kind === 'ConfigMap' ? object.binaryData : object.data;
  return new Map([
    ...Object.entries(plain ?? {}).map(([key, text]) => [key, Buffer.from(text)] as const),
    ...Object.entries(encoded ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64')] as const),
  ]);
}

function downwardText({ fieldRef, resourceFieldRef }: DownwardApiFile, { pod, nodeAllocatable }: PayloadInput): Buffer {
  // files in a volume cannot refer to status fields, so the pod's addresses are not needed
  if (fieldRef) return Buffer.from(podField(pod, fieldRef.fieldPath, { podIps: [], hostIps: [] }) ?? '');
  const name = resourceFieldRef?.containerName;
  const container = allContainers(pod.spec).find((other) => other.name === name);
  if (container === undefined || resourceFieldRef === undefined) {
    throw new PodwrightError('failed_precondition', `there is no container "${name}" in the pod`);
  }
  return Buffer.from(containerResource(withPodLimits(container, pod.spec), resourceFieldRef, nodeAllocatable));
}
