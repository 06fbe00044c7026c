import { CONTAINER_FILE } from '@podwright/base';
import type { PodSecurityContext } from '../objects/security-context.ts';
import type {
  ConfigMap,
  DownwardApiProjection,
  EphemeralContainer,
  ManifestObject,
  ObjectMeta,
  PersistentVolumeClaim,
  Pod,
  PodSpec,
  ProjectedVolumeSource,
  RuntimeClass,
  Secret,
  Volume,
} from '../objects/types.ts';
import { dottedSysctl } from '../values/sysctl.ts';
import { completeContainer, completeReference, defaultPullPolicy } from './container-defaults.ts';
import { completePodResources } from './pod-level-defaults.ts';

/** Returns a copy of a decoded object with the API server's defaults applied. */
export function applyDefaults<T extends ManifestObject>(object: T): T;
export function applyDefaults(object: ManifestObject): ManifestObject {
  switch (object.kind) {
    case 'Pod':
      return completePod(object);
    case 'ConfigMap':
      return completeConfigMap(object);
    case 'Secret':
      return completeSecret(object);
    case 'PersistentVolumeClaim':
      return completeClaim(object);
    case 'RuntimeClass':
      return completeRuntimeClass(object);
  }
}

/** Sets the defaults of a PersistentVolumeClaim from a manifest. Drops its `status`, which only the node may set. */
function completeClaim({ status: _, ...claim }: PersistentVolumeClaim): PersistentVolumeClaim {
  const { spec } = claim;
  const accessModes = spec.accessModes ?? ['ReadWriteOnce'];
  return { ...claim, metadata: completeMeta(claim.metadata), spec: { ...spec, accessModes, volumeMode: 'Filesystem' } };
}

function completeMeta(metadata: ObjectMeta): ObjectMeta {
  return { ...metadata, namespace: metadata.namespace || 'default', uid: metadata.uid ?? '' };
}

function completePod(pod: Pod): Pod {
  return { ...pod, metadata: completeMeta(pod.metadata), spec: completeSpec(pod.spec) };
}

function completeSpec(given: PodSpec): PodSpec {
  const spec = completeParts(given);
  const resources = completePodResources(spec);
  return resources === undefined ? spec : { ...spec, resources };
}

function completeParts(spec: PodSpec): PodSpec {
  const serviceAccountName = spec.serviceAccountName ?? spec.serviceAccount;
  return {
    ...spec,
    ...(spec.volumes === undefined ? {} : { volumes: spec.volumes.map(completeVolume) }),
    ...(spec.initContainers === undefined
      ? {}
      : { initContainers: spec.initContainers.map((container) => completeContainer(container, spec)) }),
    containers: spec.containers.map((container) => completeContainer(container, spec)),
    ...(spec.ephemeralContainers === undefined
      ? {}
      : { ephemeralContainers: spec.ephemeralContainers.map((container) => completeEphemeral(container, spec)) }),
    restartPolicy: spec.restartPolicy ?? 'Always',
    terminationGracePeriodSeconds: gracePeriodOf(spec),
    dnsPolicy: spec.dnsPolicy ?? 'ClusterFirst',
    securityContext: completeSecurity(spec),
    schedulerName: spec.schedulerName ?? 'default-scheduler',
    enableServiceLinks: spec.enableServiceLinks ?? true,
    ...(serviceAccountName === undefined ? {} : { serviceAccountName, serviceAccount: serviceAccountName }),
  };
}

/** Returns the pod's security context, with sysctl names rewritten to use dots as separators. */
function completeSecurity({ securityContext = {} }: PodSpec): PodSecurityContext {
  const { sysctls } = securityContext;
  if (sysctls === undefined) return securityContext;
  return { ...securityContext, sysctls: sysctls.map((one) => ({ ...one, name: dottedSysctl(one.name) })) };
}

/** Returns the grace period in seconds. Defaults to 30; negative values become 1, as in the API server. */
function gracePeriodOf({ terminationGracePeriodSeconds: given = 30 }: PodSpec): number {
  return given < 0 ? 1 : given;
}

/** Returns the ephemeral container with its defaults set. Unlike other containers, it gets no default resources. */
export function completeEphemeral(container: EphemeralContainer, spec: PodSpec): EphemeralContainer {
  const { resources, ...complete } = completeContainer(container, spec);
  return container.resources === undefined ? complete : { ...complete, resources };
}

/** Sets the defaults of a volume. A volume without a source becomes an emptyDir, as in the API server. */
function completeVolume(volume: Volume): Volume {
  const { emptyDir, hostPath, configMap, secret, downwardAPI, projected, image, ...others } = volume;
  if (others.nfs || others.persistentVolumeClaim || others.csi || others.ephemeral) return volume;
  if (image)
    return { ...volume, image: { ...image, pullPolicy: image.pullPolicy ?? defaultPullPolicy(image.reference) } };
  if (hostPath) return { ...volume, hostPath: { ...hostPath, type: hostPath.type ?? '' } };
  if (configMap) return { ...volume, configMap: withMode(configMap) };
  if (secret) return { ...volume, secret: withMode(secret) };
  if (downwardAPI) return { ...volume, downwardAPI: withMode(completeFiles(downwardAPI)) };
  if (projected) return { ...volume, projected: withMode(completeSources(projected)) };
  return { ...volume, emptyDir: emptyDir ?? {} };
}

function completeFiles<T extends DownwardApiProjection>(source: T): T {
  return source.items === undefined ? source : { ...source, items: source.items.map(completeReference) };
}

function completeSources(source: ProjectedVolumeSource): ProjectedVolumeSource {
  if (source.sources === undefined) return source;
  const sources = source.sources.map((one) =>
    one.downwardAPI === undefined ? one : { ...one, downwardAPI: completeFiles(one.downwardAPI) },
  );
  return { ...source, sources };
}

function withMode<T extends { defaultMode?: number }>(source: T): T {
  return { ...source, defaultMode: source.defaultMode ?? CONTAINER_FILE };
}

function completeConfigMap(configMap: ConfigMap): ConfigMap {
  return { ...configMap, metadata: completeMeta(configMap.metadata) };
}

/** Merges `stringData` into `data`, overriding existing keys, and removes it because it is write-only in the API. */
function completeSecret({ stringData, ...secret }: Secret): Secret {
  const encoded = Object.entries(stringData ?? {}).map(
    ([key, text]) => [key, Buffer.from(text).toString('base64')] as const,
  );
  const data = { ...secret.data, ...Object.fromEntries(encoded) };
  return { ...secret, metadata: completeMeta(secret.metadata), type: secret.type || 'Opaque', data };
}

function completeRuntimeClass(runtimeClass: RuntimeClass): RuntimeClass {
  return {
    ...runtimeClass,
    metadata: { ...runtimeClass.metadata, namespace: '', uid: runtimeClass.metadata.uid ?? '' },
  };
}
