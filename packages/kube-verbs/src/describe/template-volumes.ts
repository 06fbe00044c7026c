import type { Volume } from '@podwright/kube-api';
import type { Lines } from '../text/aligned.ts';

/** Volume types with kubectl's explanations and the fields to show, keyed by the name of the volume's source field, such as `configMap`. */
const SOURCES: Record<string, { type: string; fields: readonly [label: string, key: string, absent?: string][] }> = {
  emptyDir: {
    type: "EmptyDir (a temporary directory that shares a pod's lifetime)",
    fields: [
      ['Medium', 'medium'],
      ['SizeLimit', 'sizeLimit', '<unset>'],
    ],
  },
  hostPath: {
    type: 'HostPath (bare host directory volume)',
    fields: [
      ['Path', 'path'],
      ['HostPathType', 'type'],
    ],
  },
  secret: {
    type: 'Secret (a volume populated by a Secret)',
    fields: [
      ['SecretName', 'secretName'],
      ['Optional', 'optional', 'false'],
    ],
  },
  configMap: {
    type: 'ConfigMap (a volume populated by a ConfigMap)',
    fields: [
      ['Name', 'name'],
      ['Optional', 'optional', 'false'],
    ],
  },
  persistentVolumeClaim: {
    type: 'PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)',
    fields: [
      ['ClaimName', 'claimName'],
      ['ReadOnly', 'readOnly', 'false'],
    ],
  },
  nfs: {
    type: 'NFS (an NFS mount that lasts the lifetime of a pod)',
    fields: [
      ['Server', 'server'],
      ['Path', 'path'],
      ['ReadOnly', 'readOnly', 'false'],
    ],
  },
  image: {
    type: 'Image (a container image or OCI artifact)',
    fields: [
      ['Reference', 'reference'],
      ['PullPolicy', 'pullPolicy'],
    ],
  },
  csi: {
    type: 'CSI (a Container Storage Interface (CSI) volume source)',
    fields: [
      ['Driver', 'driver'],
      ['FSType', 'fsType'],
      ['ReadOnly', 'readOnly', 'false'],
    ],
  },
};

/** Describes the volumes of a pod template. */
export function describeVolumes(lines: Lines, volumes: readonly Volume[] = []): void {
  if (volumes.length === 0) return lines.add(1, 'Volumes:\t<none>');
  lines.add(1, 'Volumes:');
  for (const volume of volumes) {
    lines.add(1, ` ${volume.name}:`);
    describeSource(lines, volume);
  }
}

function describeSource(lines: Lines, { name: _name, ...sources }: Volume): void {
  const [key = '', value] = Object.entries(sources).find(([, source]) => source !== undefined) ?? [];
  const source = (value ?? {}) as Record<string, unknown>;
  if (key === 'projected') return describeProjected(lines, source as ProjectedSource);
  if (key === 'downwardAPI') return describeDownward(lines, source as { items?: DownwardItem[] });
  const known = SOURCES[key];
  if (known === undefined) return lines.add(2, key === '' ? '<unknown>' : `Type:\t${key}`);
  lines.add(2, `Type:\t${known.type}`);
  for (const [label, field, absent = ''] of known.fields) lines.add(2, `${label}:\t${source[field] ?? absent}`);
}

type DownwardItem = { path: string; fieldRef?: { fieldPath: string }; resourceFieldRef?: { resource: string } };
type Named = { name: string; optional?: boolean };
type ProjectedSource = {
  sources?: {
    secret?: Named;
    configMap?: Named;
    downwardAPI?: object;
    serviceAccountToken?: { expirationSeconds?: number };
  }[];
};

function describeDownward(lines: Lines, { items = [] }: { items?: DownwardItem[] }): void {
  lines.add(2, 'Type:\tDownwardAPI (a volume populated by information about the pod)\n    Items:');
  for (const { path, fieldRef, resourceFieldRef } of items)
    lines.add(3, `${fieldRef?.fieldPath ?? resourceFieldRef?.resource} -> ${path}`);
}

function describeProjected(lines: Lines, { sources = [] }: ProjectedSource): void {
  lines.add(2, 'Type:\tProjected (a volume that contains injected data from multiple sources)');
  for (const { secret, configMap, downwardAPI, serviceAccountToken } of sources) {
    if (secret !== undefined) lines.add(2, `SecretName:\t${secret.name}\n    Optional:\t${secret.optional ?? false}`);
    if (downwardAPI !== undefined) lines.add(2, 'DownwardAPI:\ttrue');
    if (configMap !== undefined)
      lines.add(2, `ConfigMapName:\t${configMap.name}\n    Optional:\t${configMap.optional ?? false}`);
    if (serviceAccountToken !== undefined)
      lines.add(2, `TokenExpirationSeconds:\t${serviceAccountToken.expirationSeconds ?? 3600}`);
  }
}
