import type {
  Container,
  ContainerState,
  ContainerStatus,
  EnvFromSource,
  EnvVar,
  Pod,
  Probe,
  ResourceList,
} from '@podwright/kube-api';
import type { PodDefaults } from '@podwright/kubelet';
import { describeTime, entry, lines, type OutlineEntry, prose, section } from '../output/outline.ts';

/** Describes a container and its status, in the format of `kubectl describe`. */
export function describeContainer(pod: Pod, container: Container, defaults: PodDefaults | undefined): OutlineEntry {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = pod.status ?? {};
  const statuses = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
  const status = statuses.find(({ name }) => name === container.name);
  const below = [
    ...entry('Container ID', status?.containerID),
    ...entry('Image', container.image),
    ...entry('Image ID', status?.imageID),
    ...portEntries(container),
    ...entry('Seccomp', describeSeccomp(pod, container, defaults)),
    ...(container.command ? [lines('Command', container.command)] : []),
    ...(container.args ? [lines('Args', container.args)] : []),
    ...entry('Working Dir', container.workingDir),
    ...stateEntries(status),
    ...entry('Restart Policy', container.restartPolicy),
    ...amounts('Limits', container.resources?.limits),
    ...amounts('Requests', container.resources?.requests),
    ...probeEntries(container),
    ...(container.envFrom ? [lines('Environment Variables from', container.envFrom.map(describeEnvSource))] : []),
    section(
      'Environment',
      (container.env ?? []).map((variable) => ({ label: variable.name, text: [describeVariable(variable)] })),
    ),
    lines('Mounts', (container.volumeMounts ?? []).map(describeMount)),
  ];
  return { label: container.name, below };
}

function portEntries({ ports = [] }: Container): OutlineEntry[] {
  const own = ports.map(
    ({ containerPort, protocol, name }) => `${containerPort}/${protocol}${name ? ` (${name})` : ''}`,
  );
  const host = ports.map(
    ({ hostPort = 0, hostIP, protocol }) => `${hostIP ? `${hostIP}:` : ''}${hostPort}/${protocol}`,
  );
  const published = ports.some(({ hostPort }) => (hostPort ?? 0) > 0);
  return [
    ...entry(ports.length > 1 ? 'Ports' : 'Port', own.join(', ')),
    ...entry(ports.length > 1 ? 'Host Ports' : 'Host Port', published ? host.join(', ') : undefined),
  ];
}

function describeSeccomp({ spec }: Pod, { securityContext }: Container, defaults: PodDefaults | undefined): string {
  if (securityContext?.privileged) return 'Unconfined (privileged)';
  const profile = securityContext?.seccompProfile ?? spec.securityContext?.seccompProfile;
  if (profile === undefined) return `${defaults?.seccomp ?? 'Unconfined'} (the node's default)`;
  return profile.localhostProfile === undefined ? profile.type : `${profile.type} ${profile.localhostProfile}`;
}

function stateEntries(status: ContainerStatus | undefined): OutlineEntry[] {
  const last = status?.lastState;
  return [
    stateEntry('State', status?.state),
    ...(last !== undefined && Object.keys(last).length > 0 ? [stateEntry('Last State', last)] : []),
    ...entry('Ready', status?.ready ? 'True' : 'False'),
    ...entry('Restart Count', status?.restartCount ?? 0),
  ];
}

function stateEntry(label: string, { running, terminated, waiting }: ContainerState = {}): OutlineEntry {
  if (running) return { label, text: ['Running'], below: entry('Started', describeTime(running.startedAt)) };
  if (terminated === undefined) {
    const below = [...entry('Reason', waiting?.reason), ...prose('Message', waiting?.message)];
    return { label, text: ['Waiting'], below };
  }
  const { reason, message, exitCode, signal, startedAt, finishedAt } = terminated;
  const below = [
    ...entry('Reason', reason),
    ...entry('Message', message?.trimEnd()),
    ...entry('Exit Code', exitCode),
    ...entry('Signal', signal || undefined),
    ...entry('Started', describeTime(startedAt)),
    ...entry('Finished', describeTime(finishedAt)),
  ];
  return { label, text: ['Terminated'], below };
}

function amounts(label: string, list: ResourceList | undefined): OutlineEntry[] {
  const below = Object.entries(list ?? {}).flatMap(([name, quantity]) => entry(name, quantity));
  return below.length === 0 ? [] : [{ label, below }];
}

function probeEntries({ livenessProbe, readinessProbe, startupProbe }: Container): OutlineEntry[] {
  return [
    ...entry('Liveness', livenessProbe && describeProbe(livenessProbe)),
    ...entry('Readiness', readinessProbe && describeProbe(readinessProbe)),
    ...entry('Startup', startupProbe && describeProbe(startupProbe)),
  ];
}

/** Formats a probe as `http-get http://:8080/x delay=0s timeout=1s period=10s #success=1 #failure=3`. */
export function describeProbe(probe: Probe): string {
  const { initialDelaySeconds = 0, timeoutSeconds = 1, periodSeconds = 10 } = probe;
  const times = `delay=${initialDelaySeconds}s timeout=${timeoutSeconds}s period=${periodSeconds}s`;
  return `${describeHandler(probe)} ${times} #success=${probe.successThreshold ?? 1} #failure=${probe.failureThreshold ?? 3}`;
}

function describeHandler({ exec, httpGet, tcpSocket, grpc }: Probe): string {
  if (exec) return `exec [${exec.command.join(' ')}]`;
  if (tcpSocket) return `tcp-socket ${tcpSocket.host ?? ''}:${tcpSocket.port}`;
  if (grpc) return `grpc :${grpc.port}${grpc.service ? ` ${grpc.service}` : ''}`;
  if (httpGet === undefined) return 'unknown';
  const path = (httpGet.path ?? '/').replace(/^(?!\/)/, '/');
  return `http-get ${(httpGet.scheme ?? 'HTTP').toLowerCase()}://${httpGet.host ?? ''}:${httpGet.port}${path}`;
}

function describeEnvSource({ prefix, configMapRef, secretRef }: EnvFromSource): string {
  const [name, kind] = configMapRef ? [configMapRef.name, 'ConfigMap'] : [secretRef?.name ?? '', 'Secret'];
  const optional = (configMapRef ?? secretRef)?.optional === true;
  return `${name}  ${kind}${prefix ? ` with prefix '${prefix}'` : ''}  Optional: ${optional}`;
}

/** Returns the value of an environment variable, or a reference to its source, without resolving it. */
export function describeVariable({ value, valueFrom }: EnvVar): string {
  if (valueFrom === undefined) return value ?? '';
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom;
  if (fieldRef) return `(${fieldRef.apiVersion ?? 'v1'}:${fieldRef.fieldPath})`;
  if (resourceFieldRef) return `(${resourceFieldRef.resource})`;
  if (fileKeyRef) {
    const { key, path, volumeName, optional } = fileKeyRef;
    return `<set to the key '${key}' in file '${path}' of volume '${volumeName}'>  Optional: ${optional === true}`;
  }
  const [reference, kind] = configMapKeyRef ? [configMapKeyRef, 'config map'] : [secretKeyRef!, 'secret'];
  return `<set to the key '${reference.key}' in ${kind} '${reference.name}'>  Optional: ${reference.optional === true}`;
}

function describeMount(mount: NonNullable<Container['volumeMounts']>[number]): string {
  const { name, mountPath, readOnly, subPath, subPathExpr } = mount;
  const path = subPath ?? subPathExpr;
  return `${mountPath} from ${name} (${readOnly ? 'ro' : 'rw'}${path ? `,path="${path}"` : ''})`;
}
