import {
  compareQuantities,
  type Pod,
  type ResourceList,
  type RuntimeClass,
  type Toleration,
} from '@podwright/kube-api';

/** A pod with its RuntimeClass applied, or the conflict between the two. */
export type ClassedPod = { pod: Pod } | { path: string; problem: string };

/** Adds the class's overhead, node selector and tolerations, like the API server's admission plugin (plugin/pkg/admission/runtimeclass). */
export function withRuntimeClass(pod: Pod, { metadata, overhead, scheduling }: RuntimeClass): ClassedPod {
  const { spec } = pod;
  const fixed = overhead?.podFixed;
  const name = `RuntimeClass "${metadata.name}"`;
  if (Object.keys(spec.overhead ?? {}).length > 0 && !isSame(spec.overhead!, fixed ?? {}))
    return {
      path: 'spec.overhead',
      problem: `Pod's Overhead doesn't match the one that ${name} defines; leave it out`,
    };
  const selector = scheduling?.nodeSelector ?? {};
  const clash = Object.entries(selector).find(([key, value]) => (spec.nodeSelector?.[key] ?? value) !== value);
  if (clash !== undefined)
    return {
      path: 'spec.nodeSelector',
      problem: `${clash[0]} is ${spec.nodeSelector![clash[0]]}, and ${clash[1]} in ${name}`,
    };
  return {
    pod: {
      ...pod,
      spec: {
        ...spec,
        ...(fixed === undefined ? {} : { overhead: fixed }),
        ...(scheduling?.nodeSelector === undefined ? {} : { nodeSelector: { ...spec.nodeSelector, ...selector } }),
        ...(scheduling?.tolerations === undefined
          ? {}
          : { tolerations: mergeTolerations(spec.tolerations ?? [], scheduling.tolerations) }),
      },
    },
  };
}

function isSame(a: ResourceList, b: ResourceList): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every(
    (name) => Object.hasOwn(a, name) && Object.hasOwn(b, name) && compareQuantities(a[name]!, b[name]!) === 0,
  );
}

function mergeTolerations(own: Toleration[], added: Toleration[]): Toleration[] {
  const known = new Set(own.map((one) => JSON.stringify(Object.entries(one).sort())));
  return [...own, ...added.filter((one) => !known.has(JSON.stringify(Object.entries(one).sort())))];
}
