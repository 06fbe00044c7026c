import type { IssueList } from '../issue.ts';
import {
  type Container,
  isSidecar,
  type ObjectMeta,
  type Pod,
  type PodSpec,
  type Toleration,
} from '../objects/types.ts';
import { validateContainer } from './container.ts';
import { validateLabels, validateMeta } from './metadata.ts';
import { dnsLabel, dnsSubdomain, ipAddress, MAX_FILE_NAME_BYTES, qualifiedName } from './names.ts';
import { validatePodResources } from './pod-resources.ts';
import { validateResourceList } from './resources.ts';
import { validateRestart } from './restart.ts';
import { check, each, MAX_INT32, within } from './rules.ts';
import { validateScheduling } from './scheduling.ts';
import { validatePodSecurity } from './security.ts';
import { validateVolumes } from './volume.ts';

/** The kernel's limit on host name length (uname(2)). */
const MAX_HOSTNAME_LENGTH = 64;

/** Validates a pod by the API server's rules, for the features supported by a standalone node. Defaults must have been set. */
export function validatePod(pod: Pod, issues: IssueList): void {
  const before = issues.count;
  validateMeta(pod.metadata, issues.at('metadata'));
  if (issues.count === before) validateLogName(pod.metadata, issues.at('metadata', 'name'));
  const { spec } = pod;
  const place = issues.at('spec');
  validateVolumes(spec.volumes ?? [], place.at('volumes'));
  validateContainers(spec, place);
  validateTimes(spec, place);
  validateNames(spec, place);
  validateHostNamespaces(spec, place);
  validateDns(spec, place.at('dnsConfig'));
  validatePodSecurity(spec.securityContext ?? {}, spec, place.at('securityContext'));
  validatePodResources(spec, place.at('resources'));
  validateResourceList(spec.overhead ?? {}, place.at('overhead'));
  validateScheduling(spec, place);
  each(spec.tolerations, place.at('tolerations'), validateToleration);
}

/** Validates the length of the pod's log directory name, `<namespace>_<name>_<uid>`. Generated UIDs have 36 characters. */
function validateLogName({ namespace, name, uid }: ObjectMeta, issues: IssueList): void {
  const most = MAX_FILE_NAME_BYTES - namespace.length - (uid.length || 36) - '__'.length;
  if (name.length > most)
    issues.add(
      `must be at most ${most} characters in namespace ${namespace}, got ${name.length}: the directory of the pod's logs is named NAMESPACE_NAME_UID, and a file name has at most ${MAX_FILE_NAME_BYTES} bytes`,
    );
}

function validateContainers(spec: PodSpec, issues: IssueList): void {
  if (spec.containers.length === 0) issues.at('containers').add('must have at least one container');
  validateContainerNames(spec, issues);
  validateHostPorts(spec, issues);
  each(spec.initContainers, issues.at('initContainers'), (container, place) => {
    validateContainer(container, spec, place);
    validateRestart(container, spec, place);
    if (!isSidecar(container)) refuseInitFields(container, place);
  });
  each(spec.containers, issues.at('containers'), (container, place) => {
    validateContainer(container, spec, place);
    validateRestart(container, spec, place);
  });
  if ((spec.ephemeralContainers ?? []).length > 0)
    issues.at('ephemeralContainers').addKey('cannot be set on create: `podwright debug` adds one to a running pod');
}

/** Rejects lifecycle hooks, probes, and resizes requiring a restart for an init container that runs to completion. */
function refuseInitFields(container: Container, issues: IssueList): void {
  for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    if (container[field] !== undefined)
      issues.at(field).addKey('must not be set for init containers without restartPolicy: Always');
  }
  each(container.resizePolicy, issues.at('resizePolicy'), ({ restartPolicy }, place) => {
    if (restartPolicy === 'RestartContainer')
      place.at('restartPolicy').add('must not be RestartContainer for init containers without restartPolicy: Always');
  });
}

function validateContainerNames(spec: PodSpec, issues: IssueList): void {
  const seen = new Set<string>();
  for (const field of ['initContainers', 'containers'] as const) {
    each(spec[field], issues.at(field), ({ name }, place) => {
      if (seen.has(name)) place.at('name').add(`container "${name}" is defined twice`);
      seen.add(name);
    });
  }
}

/** Rejects host ports used more than once. The ports of regular init containers cannot conflict because these run one at a time. */
function validateHostPorts(spec: PodSpec, issues: IssueList): void {
  const seen = new Set<string>();
  for (const field of ['initContainers', 'containers'] as const) {
    each(spec[field], issues.at(field), (container, place) => {
      if (field === 'initContainers' && !isSidecar(container)) return;
      each(container.ports, place.at('ports'), (port, portPlace) => {
        if (port.hostPort === undefined) return;
        const key = `${port.protocol}/${port.hostIP ?? ''}/${port.hostPort}`;
        if (seen.has(key)) portPlace.at('hostPort').add(`host port ${port.hostPort}/${port.protocol} is used twice`);
        seen.add(key);
      });
    });
  }
}

function validateTimes(spec: PodSpec, issues: IssueList): void {
  within(spec.activeDeadlineSeconds, { min: 1, max: MAX_INT32 }, issues.at('activeDeadlineSeconds'));
  within(spec.terminationGracePeriodSeconds, { min: 0 }, issues.at('terminationGracePeriodSeconds'));
}

function validateNames(spec: PodSpec, issues: IssueList): void {
  check(dnsLabel, spec.hostname, issues.at('hostname'));
  check(dnsLabel, spec.subdomain, issues.at('subdomain'));
  validateHostnameOverride(spec, issues.at('hostnameOverride'));
  check(dnsSubdomain, spec.nodeName, issues.at('nodeName'));
  check(dnsSubdomain, spec.runtimeClassName, issues.at('runtimeClassName'));
  check(dnsSubdomain, spec.priorityClassName, issues.at('priorityClassName'));
  check(dnsSubdomain, spec.serviceAccountName, issues.at('serviceAccountName'));
  validateLabels(spec.nodeSelector, issues.at('nodeSelector'));
  each(spec.imagePullSecrets, issues.at('imagePullSecrets'), ({ name }, place) => dnsSubdomain(name, place.at('name')));
  each(spec.readinessGates, issues.at('readinessGates'), (gate, place) =>
    qualifiedName(gate.conditionType, place.at('conditionType')),
  );
  each(spec.hostAliases, issues.at('hostAliases'), (alias, place) => {
    ipAddress(alias.ip, place.at('ip'));
    each(alias.hostnames, place.at('hostnames'), dnsSubdomain);
  });
  if (spec.os?.name === 'windows') issues.at('os', 'name').add('this node runs linux');
}

/** Validates `hostnameOverride`, which is the complete host name: `hostname` and `subdomain` do not apply. */
function validateHostnameOverride(spec: PodSpec, issues: IssueList): void {
  const name = spec.hostnameOverride;
  if (name === undefined) return;
  dnsSubdomain(name, issues);
  if (name.length > MAX_HOSTNAME_LENGTH) issues.add(`must be at most ${MAX_HOSTNAME_LENGTH} characters`);
  if (spec.setHostnameAsFQDN) issues.addKey('must not be given while setHostnameAsFQDN is true');
  if (spec.hostNetwork) issues.addKey('must not be given while hostNetwork is true');
}

function validateHostNamespaces(spec: PodSpec, issues: IssueList): void {
  if (spec.hostPID && spec.shareProcessNamespace) {
    issues.at('shareProcessNamespace').add('must not be true together with hostPID');
  }
  if (spec.hostUsers !== false) return;
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
    if (spec[field]) issues.at(field).add('must not be true while hostUsers is false');
  }
}

function validateDns(spec: PodSpec, issues: IssueList): void {
  const { nameservers = [], searches = [], options = [] } = spec.dnsConfig ?? {};
  if (spec.dnsPolicy === 'None' && nameservers.length === 0) {
    issues.at('nameservers').addKey('must have at least one address while dnsPolicy is None');
  }
  if (nameservers.length > 3) issues.at('nameservers').add('must have at most 3 addresses');
  each(nameservers, issues.at('nameservers'), ipAddress);
  if (searches.length > 32) issues.at('searches').add('must have at most 32 domains');
  if (searches.join(' ').length > 2048) issues.at('searches').add('must be at most 2048 characters together');
  each(searches, issues.at('searches'), (domain, place) => {
    // unlike names, search domains may contain underscores and end with a dot
    if (domain !== '.') dnsSubdomain(domain.replace(/\.$/, '').replaceAll('_', '-').replace(/^-/, 'x'), place);
  });
  each(options, issues.at('options'), ({ name }, place) => {
    if (name === '') place.at('name').add('must not be empty');
  });
}

function validateToleration(toleration: Toleration, issues: IssueList): void {
  if (toleration.key) qualifiedName(toleration.key, issues.at('key'));
  else if (toleration.operator !== 'Exists') issues.at('operator').addKey('must be Exists while key is empty');
  if (toleration.operator === 'Exists' && toleration.value)
    issues.at('value').addKey('must be empty while operator is Exists');
  if (toleration.tolerationSeconds !== undefined && toleration.effect !== 'NoExecute') {
    issues.at('effect').addKey('must be NoExecute while tolerationSeconds is set');
  }
}
