import { CONFIG_FILE_ANNOTATION, goQuote, type Pod, parseSubscript } from '@podwright/kube-api';

/** The addresses of the pod and its node for `status.*` fields, primary address first. */
export type PodAddresses = { podIps: string[]; hostIps: string[] };

/** Returns the value of a pod field for an environment variable or a file; `undefined` if the field is not supported. */
export function podField(pod: Pod, fieldPath: string, { podIps, hostIps }: PodAddresses): string | undefined {
  const subscript = parseSubscript(fieldPath);
  if (subscript !== undefined) return ownValue(shownMap(pod, subscript.map), subscript.key);
  const ownIps = pod.spec.hostNetwork === true && podIps.length === 0 ? hostIps : podIps;
  const { metadata, spec } = pod;
  switch (fieldPath) {
    case 'metadata.name':
      return metadata.name;
    case 'metadata.namespace':
      return metadata.namespace;
    case 'metadata.uid':
      return metadata.uid;
    case 'metadata.labels':
      return formatMap(shownMap(pod, 'labels'));
    case 'metadata.annotations':
      return formatMap(shownMap(pod, 'annotations'));
    case 'spec.nodeName':
      return spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? '';
    case 'status.hostIP':
      return hostIps[0] ?? '';
    case 'status.hostIPs':
      return hostIps.join(',');
    case 'status.podIP':
      return ownIps[0] ?? '';
    case 'status.podIPs':
      return ownIps.join(',');
  }
  return undefined;
}

/** Returns the pod's labels or annotations, except the annotation with the manifest's path on the host. */
function shownMap({ metadata }: Pod, name: 'labels' | 'annotations'): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata[name] ?? {}).filter(([key]) => key !== CONFIG_FILE_ANNOTATION));
}

function ownValue(map: Record<string, string> | undefined, key: string): string {
  return map !== undefined && Object.hasOwn(map, key) ? map[key]! : '';
}

/** Formats a map like upstream's downward API: sorted lines of the form `key="value"`, with quoted values. */
function formatMap(map: Record<string, string> | undefined): string {
  return Object.keys(map ?? {})
    .sort()
    .map((key) => `${key}=${goQuote(map![key]!)}`)
    .join('\n');
}
