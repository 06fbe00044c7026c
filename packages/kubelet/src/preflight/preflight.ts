import { isIPv6 } from 'node:net';
import {
  type FieldPath,
  type Finding,
  hostPorts,
  ignoredFields,
  isExtendedResource,
  type LocalObjectOf,
  type ManifestObject,
  ObjectFindings,
  type ObjectLookup,
  type Pod,
  podLevelAmount,
  podReferences,
  portText,
  takenPort,
  wantsNode,
} from '@podwright/kube-api';
import { requestOf } from '../cgroups/qos.ts';
import { type NodeFacts, type Refusal, refusePod } from '../pod/pod-admission.ts';
import { makeRoom } from '../pod/preemption.ts';
import { missingImages } from './images.ts';

/** The host and the node to check manifests against. */
export type PreflightHost = {
  nodeName: string;
  facts: NodeFacts;
  /** The host's directory of Localhost seccomp profiles. */
  seccompRoot: string;
  /** Objects whose manifests have errors, such as `Secret default/a`. They are not reported as missing. */
  refused?: readonly string[];
  /** A running node's objects and pods, and its images if they have been listed. Unset if no node is running. */
  node?: { objects: ObjectLookup; pods: Pod[]; images?: ReadonlySet<string> };
};

/** Checks manifest objects that are about to be applied together, and returns the findings. Pure. */
export function preflight(objects: readonly ManifestObject[], host: PreflightHost): Finding[] {
  const pods = objects.filter((object) => object.kind === 'Pod');
  const names = new Set(pods.map(nameOf));
  const others = (host.node?.pods ?? []).filter((pod) => !names.has(nameOf(pod)));
  return pods.flatMap((pod, index) => {
    const earlier = [...others, ...pods.slice(0, index)];
    return [
      ...missingObjects(pod, objects, host),
      ...missingImages(pod, host.node?.images),
      ...missingDevices(pod, { resources: host.facts.resources, isRunning: host.node !== undefined }),
      ...refusals(pod, earlier, host),
      ...unreachablePorts(pod),
      ...ignoredFields(pod, host.nodeName),
    ];
  });
}

const nameOf = ({ metadata }: Pod) => `${metadata.namespace}/${metadata.name}`;

function missingObjects(pod: Pod, objects: readonly ManifestObject[], host: PreflightHost): Finding[] {
  const findings = new ObjectFindings(pod);
  const where = host.node === undefined ? 'in these files' : 'in these files or on the node';
  for (const { kind, name, keys, optional, path } of podReferences(pod)) {
    if (optional) continue;
    const namespace = kind === 'RuntimeClass' ? '' : pod.metadata.namespace;
    const label = `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;
    const named = ({ kind: other, metadata }: ManifestObject) =>
      other === kind && metadata.namespace === namespace && metadata.name === name;
    const found = objects.find(named) ?? host.node?.objects.get(kind, namespace, name);
    if (found === undefined && host.refused?.includes(label)) continue;
    if (found === undefined) findings.problem(path, `${label} is not ${where}; the pod waits until there is one`);
    else
      for (const one of keys)
        if (!hasKey(found as LocalObjectOf<'ConfigMap' | 'Secret'>, one.key))
          findings.problem(one.path, `${label} has no key "${one.key}"`);
  }
  return findings.list;
}

function hasKey(object: LocalObjectOf<'ConfigMap' | 'Secret'>, key: string): boolean {
  const encoded = object.kind === 'ConfigMap' ? object.binaryData : undefined;
  return [object.data, encoded].some((data) => data !== undefined && Object.hasOwn(data, key));
}

/** The node's resources. Device plugin resources are known only if the node `isRunning`. */
type Offer = { resources: Readonly<Record<string, bigint>>; isRunning: boolean };

/** Returns findings about extended resources that no device plugin provides. On a standalone node, the pod would wait for them. */
function missingDevices(pod: Pod, { resources: offered, isRunning }: Offer): Finding[] {
  const findings = new ObjectFindings(pod);
  for (const field of ['initContainers', 'containers'] as const)
    for (const [index, { resources }] of (pod.spec[field] ?? []).entries())
      for (const name of Object.keys(resources?.limits ?? {}).filter(isExtendedResource)) {
        if (offered[name] !== undefined) continue;
        const path = ['spec', field, index, 'resources', 'limits', name];
        if (isRunning) findings.problem(path, `no device plugin offers ${name} now; the pod waits until one does`);
        else findings.note(path, `the pod waits until a device plugin offers ${name}, which only a running node knows`);
      }
  return findings.list;
}

/**
 * Returns findings about host ports on ::1. The kernel cannot forward traffic from there to a pod, because IPv6 has no `route_localnet`.
 */
function unreachablePorts(pod: Pod): Finding[] {
  const findings = new ObjectFindings(pod);
  if (pod.spec.hostNetwork) return [];
  for (const port of hostPorts(pod).filter(({ ip }) => isIpv6Loopback(ip)))
    findings.problem(port.path, `${portText(port)} of the host reaches no pod; hostIP 127.0.0.1 does`);
  return findings.list;
}

const isIpv6Loopback = (ip: string) => isIPv6(ip) && /^[0:]*:0*1$/.test(ip);

/** Maps the kubelet's rejection reasons to the fields that cause them. */
const FIELDS: Record<string, string[]> = {
  SysctlForbidden: ['spec', 'securityContext', 'sysctls'],
  PodOSNotSupported: ['spec', 'os'],
  PodOSSelectorNodeLabelDoesNotMatch: ['metadata', 'labels', 'kubernetes.io/os'],
};

/** Returns why the node would reject the pod, given the other pods. */
function refusals(pod: Pod, others: Pod[], { facts }: PreflightHost): Finding[] {
  const findings = new ObjectFindings(pod);
  const running = others.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
  const { refusal, preempt } = makeRoom(pod, running, refusePod(pod, running, facts));
  if (preempt !== undefined) findings.note(['spec'], `the node will preempt for it: ${preempt.map(nameOf).join(', ')}`);
  else if (refusal !== undefined)
    findings.problem(blamed(pod, running, { refusal, facts }), `the node will refuse the pod: ${refusal.message}`);
  return findings.list;
}

type Refused = { refusal: Refusal; facts: NodeFacts };

function blamed(pod: Pod, running: Pod[], { refusal: { reason, shortages }, facts }: Refused): FieldPath {
  if (reason === 'NodePorts') return takenPort(pod, running)?.wanted.path ?? ['spec'];
  const resource = shortages?.[0]?.resource ?? 'pods';
  if (resource !== 'pods') return mostOf(pod, resource);
  const bySelector =
    reason === 'NodeAffinity' && !wantsNode({ ...pod, spec: { ...pod.spec, affinity: undefined } }, facts);
  if (reason === 'NodeAffinity') return ['spec', bySelector ? 'nodeSelector' : 'affinity'];
  return FIELDS[reason] ?? ['spec'];
}

/**
 * Returns the path of the `resources` field of the container with the largest request for a resource, or of the pod-level field if the
 * request is set there.
 */
function mostOf({ spec }: Pod, name: string): FieldPath {
  if (podLevelAmount(spec, 'requests', name) !== undefined) return ['spec', 'resources'];
  const fields = (['initContainers', 'containers'] as const).flatMap((field) =>
    (spec[field] ?? []).map((container, index) => ({
      amount: requestOf(container, name),
      path: ['spec', field, index],
    })),
  );
  const [most] = fields.toSorted((a, b) => Number(b.amount - a.amount));
  return [...most!.path, 'resources'];
}
