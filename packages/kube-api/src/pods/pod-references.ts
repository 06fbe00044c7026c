import type { FieldPath } from '../issue.ts';
import type { Container, EnvVar, KeyToPath, Pod, Volume } from '../objects/types.ts';

/**
 * An object referred to by a pod, and the field containing the reference. If `keys` is empty, the pod uses the whole object. If `optional`
 * is true, the object may be missing.
 */
export type PodReference = {
  kind: 'ConfigMap' | 'Secret' | 'RuntimeClass';
  name: string;
  keys: { key: string; path: FieldPath }[];
  optional: boolean;
  path: FieldPath;
};

/**
 * Returns all ConfigMaps, Secrets and RuntimeClasses a pod needs in order to run. Image pull secrets are not included because the kubelet
 * tries to pull without missing ones.
 */
export function podReferences({ spec }: Pod): PodReference[] {
  const { runtimeClassName } = spec;
  return [
    ...(runtimeClassName ? [reference('RuntimeClass', { name: runtimeClassName }, ['spec', 'runtimeClassName'])] : []),
    ...(spec.volumes ?? []).flatMap((volume, index) => ofVolume(volume, ['spec', 'volumes', index])),
    ...(['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((field) =>
      (spec[field] ?? []).flatMap((container, index) => ofContainer(container, ['spec', field, index])),
    ),
  ];
}

type Source = { name: string; key?: string; items?: KeyToPath[]; optional?: boolean };

/** Builds an object reference. `path` is the path of the field with the object's name. */
function reference(kind: PodReference['kind'], { name, key, items, optional }: Source, path: FieldPath): PodReference {
  const around = path.slice(0, -1);
  const keys =
    key === undefined
      ? (items ?? []).map((item, index) => ({ key: item.key, path: [...around, 'items', index, 'key'] }))
      : [{ key, path: [...around, 'key'] }];
  return { kind, name, keys, optional: optional ?? false, path };
}

function ofVolume({ configMap, secret, projected }: Volume, path: FieldPath): PodReference[] {
  const found: PodReference[] = [];
  if (configMap) found.push(reference('ConfigMap', configMap, [...path, 'configMap', 'name']));
  if (secret)
    found.push(reference('Secret', { ...secret, name: secret.secretName }, [...path, 'secret', 'secretName']));
  for (const [index, source] of (projected?.sources ?? []).entries()) {
    const at = [...path, 'projected', 'sources', index];
    if (source.configMap) found.push(reference('ConfigMap', source.configMap, [...at, 'configMap', 'name']));
    if (source.secret) found.push(reference('Secret', source.secret, [...at, 'secret', 'name']));
  }
  return found;
}

function ofContainer({ env, envFrom }: Container, path: FieldPath): PodReference[] {
  const found = (env ?? []).flatMap((variable, index) => ofVariable(variable, [...path, 'env', index, 'valueFrom']));
  for (const [index, { configMapRef, secretRef }] of (envFrom ?? []).entries()) {
    const at = [...path, 'envFrom', index];
    if (configMapRef) found.push(reference('ConfigMap', configMapRef, [...at, 'configMapRef', 'name']));
    if (secretRef) found.push(reference('Secret', secretRef, [...at, 'secretRef', 'name']));
  }
  return found;
}

function ofVariable({ valueFrom }: EnvVar, path: FieldPath): PodReference[] {
  const { configMapKeyRef, secretKeyRef } = valueFrom ?? {};
  return [
    ...(configMapKeyRef ? [reference('ConfigMap', configMapKeyRef, [...path, 'configMapKeyRef', 'name'])] : []),
    ...(secretKeyRef ? [reference('Secret', secretKeyRef, [...path, 'secretKeyRef', 'name'])] : []),
  ];
}
