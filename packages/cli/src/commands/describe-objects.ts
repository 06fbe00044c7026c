import type { ConfigMap, NodeCondition, PersistentVolumeClaim, Pod, RuntimeClass, Secret } from '@podwright/kube-api';
import type { NodeObject } from '../client/object-client.ts';
import { describeTime, entry, lines, type OutlineEntry, section } from '../output/outline.ts';
import { podLabel } from '../run/pod-rows.ts';
import { describeMeta } from './describe-pod.ts';

/** Describes a ConfigMap, including its values. */
export function describeConfigMap({ metadata, data = {}, binaryData = {}, immutable }: ConfigMap): OutlineEntry[] {
  const texts = Object.entries(data).map(([key, value]) => ({ label: key, text: value.trimEnd().split('\n') }));
  return [
    ...describeMeta(metadata),
    ...entry('Immutable', immutable),
    section('Data', texts),
    ...(Object.keys(binaryData).length === 0 ? [] : [section('Binary Data', byteEntries(binaryData))]),
  ];
}

/** Describes a Secret, showing the sizes of its values rather than the values themselves. */
export function describeSecret({ metadata, type, data = {}, immutable }: Secret): OutlineEntry[] {
  return [
    ...describeMeta(metadata),
    ...entry('Type', type ?? 'Opaque'),
    ...entry('Immutable', immutable),
    section('Data', byteEntries(data)),
  ];
}

/** Describes a claim. Its annotations include its directory on the host. */
export function describeClaim({ metadata, spec, status }: PersistentVolumeClaim): OutlineEntry[] {
  return [
    ...describeMeta(metadata),
    ...entry('Status', status?.phase),
    ...entry('StorageClass', spec.storageClassName),
    ...entry('Capacity', status?.capacity?.storage),
    ...entry('Access Modes', (spec.accessModes ?? []).join(', ')),
  ];
}

export function describeRuntimeClass({ metadata, handler }: RuntimeClass): OutlineEntry[] {
  return [...describeMeta(metadata), ...entry('Handler', handler)];
}

/** Describes a node and its pods. */
export function describeNode({ metadata, status = {} }: NodeObject, pods: Pod[]): OutlineEntry[] {
  const { conditions = [], addresses = [], capacity, allocatable, nodeInfo } = status;
  const map = (values: object = {}) =>
    Object.entries(values).flatMap(([key, value]) => (typeof value === 'string' ? entry(key, value) : []));
  const running = pods.filter((pod) => pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed');
  return [
    ...describeMeta(metadata),
    ...entry('Started', describeTime(metadata.creationTimestamp)),
    section('Conditions', conditions.flatMap(conditionEntry)),
    section(
      'Addresses',
      addresses.flatMap(({ type, address }) => entry(type, address)),
    ),
    section('Capacity', map(capacity)),
    section('Allocatable', map(allocatable)),
    section('System Info', map(nodeInfo)),
    lines(`Pods (${running.length} not ended)`, running.map(podLabel)),
  ];
}

function conditionEntry({ type, status, reason, message }: NodeCondition): OutlineEntry[] {
  const why = [reason, message].filter((text) => text !== undefined && text !== '').join(': ');
  return entry(type, why === '' ? status : `${status} (${why})`);
}

function byteEntries(data: Record<string, string>): OutlineEntry[] {
  return Object.entries(data).map(([key, value]) => {
    const bytes = Buffer.byteLength(value, 'base64');
    return { label: key, text: [`${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`] };
  });
}
