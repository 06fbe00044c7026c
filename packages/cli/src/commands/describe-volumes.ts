import type { KeyToPath, Volume, VolumeProjection } from '@podwright/kube-api';
import { entry, lines, type OutlineEntry } from '../output/outline.ts';

/** Describes a volume and its source, in the format of `kubectl describe`. */
export function describeVolume(volume: Volume): OutlineEntry {
  return { label: volume.name, below: sourceEntries(volume) };
}

function sourceEntries(volume: Volume): OutlineEntry[] {
  const { emptyDir, hostPath, configMap, secret, downwardAPI, projected, image, nfs, persistentVolumeClaim } = volume;
  if (image)
    return [
      ...entry('Type', 'Image (a container image or OCI artifact)'),
      ...entry('Reference', image.reference),
      ...entry('PullPolicy', image.pullPolicy),
    ];
  if (nfs)
    return [
      ...entry('Type', 'NFS (an NFS mount that lasts the lifetime of a pod)'),
      ...entry('Server', nfs.server),
      ...entry('Path', nfs.path),
      ...entry('ReadOnly', nfs.readOnly === true),
    ];
  if (persistentVolumeClaim)
    return [
      ...entry('Type', 'PersistentVolumeClaim (a directory of the node that outlives the pod)'),
      ...entry('ClaimName', persistentVolumeClaim.claimName),
      ...entry('ReadOnly', persistentVolumeClaim.readOnly === true),
    ];
  if (emptyDir)
    return [
      ...entry('Type', "EmptyDir (a temporary directory that shares a pod's lifetime)"),
      ...entry('Medium', emptyDir.medium),
      ...entry('SizeLimit', emptyDir.sizeLimit ?? '<unset>'),
    ];
  if (hostPath)
    return [
      ...entry('Type', 'HostPath (bare host directory volume)'),
      ...entry('Path', hostPath.path),
      ...entry('HostPathType', hostPath.type),
    ];
  if (configMap)
    return [
      ...entry('Type', 'ConfigMap (a volume populated by a ConfigMap)'),
      ...entry('Name', configMap.name),
      ...itemEntries(configMap.items),
      ...entry('Optional', configMap.optional === true),
    ];
  if (secret)
    return [
      ...entry('Type', 'Secret (a volume populated by a Secret)'),
      ...entry('SecretName', secret.secretName),
      ...itemEntries(secret.items),
      ...entry('Optional', secret.optional === true),
    ];
  if (downwardAPI)
    return [
      ...entry('Type', 'DownwardAPI (a volume populated by information about the pod)'),
      lines('Items', (downwardAPI.items ?? []).map(describeFile)),
    ];
  return [
    ...entry('Type', 'Projected (a volume that contains injected data from multiple sources)'),
    ...(projected?.sources ?? []).flatMap(projectionEntries),
  ];
}

function projectionEntries({ configMap, secret, downwardAPI }: VolumeProjection): OutlineEntry[] {
  if (configMap) return [...entry('ConfigMapName', configMap.name), ...itemEntries(configMap.items)];
  if (secret) return [...entry('SecretName', secret.name), ...itemEntries(secret.items)];
  return [lines('DownwardAPI', (downwardAPI?.items ?? []).map(describeFile))];
}

function describeFile({
  path,
  fieldRef,
  resourceFieldRef,
}: {
  path: string;
  fieldRef?: { fieldPath: string };
  resourceFieldRef?: { resource: string };
}): string {
  return `${fieldRef?.fieldPath ?? resourceFieldRef?.resource ?? ''} -> ${path}`;
}

function itemEntries(items: KeyToPath[] | undefined): OutlineEntry[] {
  return items === undefined
    ? []
    : [
        lines(
          'Items',
          items.map(({ key, path }) => `${key} -> ${path}`),
        ),
      ];
}
