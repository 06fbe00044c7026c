import { didYouMean } from '@podwright/base';
import type { IssueList } from '../issue.ts';
import type { Container, ContainerPort, EnvFromSource, EnvVar, PodSpec, VolumeMount } from '../objects/types.ts';
import { validateFieldRef, validateResourceRef } from './field-refs.ts';
import {
  configKey,
  dnsLabel,
  dnsSubdomain,
  envName,
  imageName,
  ipAddress,
  localPath,
  pathLength,
  portName,
} from './names.ts';
import { validateHook, validateProbes } from './probe.ts';
import { validateResources } from './resources.ts';
import { check, each, exactlyOne, unique, within } from './rules.ts';
import { validateSecurity } from './security.ts';

const MAX_PORT = 65_535;

const PLAIN_SIGNALS = [
  ...['SIGABRT', 'SIGALRM', 'SIGBUS', 'SIGCHLD', 'SIGCLD', 'SIGCONT', 'SIGFPE', 'SIGHUP', 'SIGILL', 'SIGINT', 'SIGIO'],
  ...['SIGIOT', 'SIGKILL', 'SIGPIPE', 'SIGPOLL', 'SIGPROF', 'SIGPWR', 'SIGQUIT', 'SIGSEGV', 'SIGSTKFLT', 'SIGSTOP'],
  ...['SIGSYS', 'SIGTERM', 'SIGTRAP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGURG', 'SIGUSR1', 'SIGUSR2', 'SIGVTALRM'],
  ...['SIGWINCH', 'SIGXCPU', 'SIGXFSZ', 'SIGRTMIN', 'SIGRTMAX'],
];
/** Largest N in `SIGRTMIN+N`, and in `SIGRTMAX-N`. */
const LAST_AFTER_MIN = 15;
const LAST_BEFORE_MAX = 14;

/** Stop signals allowed for containers (v1 Signal), such as `SIGRTMIN+1`. */
const STOP_SIGNALS: ReadonlySet<string> = new Set([
  ...PLAIN_SIGNALS,
  ...Array.from({ length: LAST_AFTER_MIN }, (_, index) => `SIGRTMIN+${index + 1}`),
  ...Array.from({ length: LAST_BEFORE_MAX }, (_, index) => `SIGRTMAX-${index + 1}`),
]);

/** Validates regular, init and ephemeral containers. */
export function validateContainer(container: Container, spec: PodSpec, issues: IssueList): void {
  dnsLabel(container.name, issues.at('name'));
  imageName(container.image, issues.at('image'));
  each(container.command, issues.at('command'), refuseZero);
  each(container.args, issues.at('args'), refuseZero);
  validatePorts(container.ports ?? [], spec, issues.at('ports'));
  each(container.env, issues.at('env'), (variable, place) => {
    validateVariable(variable, place);
    validateFileRef(variable, spec, place.at('valueFrom', 'fileKeyRef'));
  });
  each(container.envFrom, issues.at('envFrom'), validateEnvFrom);
  validateMounts(container, spec, issues.at('volumeMounts'));
  validateResources(container.resources ?? {}, issues.at('resources'));
  validateProbes(container, issues);
  validateLifecycle(container, spec, issues.at('lifecycle'));
  if (container.securityContext) validateSecurity(container.securityContext, spec, issues.at('securityContext'));
}

/** Rejects null bytes: execve(2) would truncate the string there, and the OCI runtime rejects such a container on every start. */
function refuseZero(text: string, issues: IssueList): void {
  if (text.includes('\0')) issues.add('must not contain a zero byte, which "\\0" is in double quotes');
}

function validatePorts(ports: ContainerPort[], spec: PodSpec, issues: IssueList): void {
  unique(ports, (port) => port.name, { issues, field: 'name', what: 'port name' });
  each(ports, issues, (port, place) => {
    check(portName, port.name, place.at('name'));
    within(port.containerPort, { min: 1, max: MAX_PORT }, place.at('containerPort'));
    within(port.hostPort, { min: 1, max: MAX_PORT }, place.at('hostPort'));
    if (port.hostIP) ipAddress(port.hostIP, place.at('hostIP'));
    if (spec.hostNetwork && port.hostPort !== undefined && port.hostPort !== port.containerPort) {
      place
        .at('hostPort')
        .add(`must equal containerPort (${port.containerPort}) while hostNetwork is true, got ${port.hostPort}`);
    }
  });
}

function validateVariable(variable: EnvVar, issues: IssueList): void {
  envName(variable.name, issues.at('name'));
  refuseZero(variable.value ?? '', issues.at('value'));
  const source = variable.valueFrom;
  if (source === undefined) return;
  const place = issues.at('valueFrom');
  if (variable.value) place.addKey('must not be given together with value');
  exactlyOne(source, ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'], place);
  if (source.fieldRef) validateFieldRef(source.fieldRef, 'env', place.at('fieldRef'));
  if (source.resourceFieldRef) validateResourceRef(source.resourceFieldRef, 'env', place.at('resourceFieldRef'));
  for (const field of ['configMapKeyRef', 'secretKeyRef'] as const) {
    check(dnsSubdomain, source[field]?.name, place.at(field, 'name'));
    check(configKey, source[field]?.key, place.at(field, 'key'));
  }
}

/** Validates a reference to an environment file. The volume must be an emptyDir because such files are written by the pod's containers. */
function validateFileRef({ valueFrom }: EnvVar, spec: PodSpec, issues: IssueList): void {
  const source = valueFrom?.fileKeyRef;
  if (source === undefined) return;
  envName(source.key, issues.at('key'));
  localPath(source.path, issues.at('path'));
  const volume = spec.volumes?.find(({ name }) => name === source.volumeName);
  if (volume === undefined) issues.at('volumeName').add(`the pod has no volume "${source.volumeName}"`);
  else if (volume.emptyDir === undefined) issues.at('volumeName').add(`"${volume.name}" must be an emptyDir`);
}

function validateEnvFrom(source: EnvFromSource, issues: IssueList): void {
  exactlyOne(source, ['configMapRef', 'secretRef'], issues);
  if (source.prefix) envName(source.prefix, issues.at('prefix'));
  for (const field of ['configMapRef', 'secretRef'] as const)
    check(dnsSubdomain, source[field]?.name, issues.at(field, 'name'));
}

function validateMounts(container: Container, spec: PodSpec, issues: IssueList): void {
  const mounts = container.volumeMounts ?? [];
  const volumes = new Set(spec.volumes?.map(({ name }) => name));
  unique(mounts, (mount) => mount.mountPath, { issues, field: 'mountPath', what: 'mount path' });
  each(mounts, issues, (mount, place) => {
    if (!volumes.has(mount.name)) place.at('name').add(`the pod has no volume "${mount.name}"`);
    validateMount(mount, place);
    if (mount.mountPropagation === 'Bidirectional' && container.securityContext?.privileged !== true) {
      place.at('mountPropagation').add('Bidirectional is only for privileged containers');
    }
  });
}

function validateMount(mount: VolumeMount, issues: IssueList): void {
  if (mount.mountPath === '') issues.at('mountPath').add('must not be empty');
  pathLength(mount.mountPath, issues.at('mountPath'));
  if (mount.subPath) localPath(mount.subPath, issues.at('subPath'));
  if (mount.subPathExpr) localPath(mount.subPathExpr, issues.at('subPathExpr'));
  if (mount.subPath && mount.subPathExpr) issues.at('subPathExpr').addKey('must not be given together with subPath');
  if ((mount.recursiveReadOnly ?? 'Disabled') === 'Disabled') return;
  const place = issues.at('recursiveReadOnly');
  if (mount.readOnly !== true) place.add('needs readOnly: true');
  if ((mount.mountPropagation ?? 'None') !== 'None') place.add('needs mountPropagation None');
}

function validateLifecycle({ lifecycle }: Container, spec: PodSpec, issues: IssueList): void {
  if (lifecycle === undefined) return;
  const graceSeconds = spec.terminationGracePeriodSeconds ?? 0;
  if (lifecycle.postStart) validateHook(lifecycle.postStart, graceSeconds, issues.at('postStart'));
  if (lifecycle.preStop) validateHook(lifecycle.preStop, graceSeconds, issues.at('preStop'));
  if (lifecycle.stopSignal === undefined) return;
  const place = issues.at('stopSignal');
  if (!STOP_SIGNALS.has(lifecycle.stopSignal))
    place.add(
      `must be a signal such as SIGUSR1, got "${lifecycle.stopSignal}"${didYouMean(lifecycle.stopSignal, [...STOP_SIGNALS])}`,
    );
  if (spec.os === undefined) place.addKey('needs spec.os.name to be set to linux');
}
