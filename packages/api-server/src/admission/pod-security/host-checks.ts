/** Checks of access to the host: namespaces, ports, probe and lifecycle hosts, privileges, and /proc. */
import { booleanAt, type JsonObject, numberAt, objectsAt, textAt } from '@podwright/kube-kinds';
import { type CheckPod, containerList, containersOf, namesOf, plural, quotedNames, setters, sorted } from './check.ts';

export const hostNamespaces: CheckPod = ({ spec }) => {
  const found = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => booleanAt(spec, field));
  if (found.length === 0) return undefined;
  return { reason: 'host namespaces', detail: found.map((field) => `${field}=true`).join(', ') };
};

const hostPortsOf = (container: JsonObject): string[] =>
  objectsAt(container, 'ports').flatMap((port) => {
    const hostPort = numberAt(port, 'hostPort') ?? 0;
    return hostPort === 0 ? [] : [String(hostPort)];
  });

export const hostPorts: CheckPod = ({ spec }) => {
  const bad = containersOf(spec).filter((container) => hostPortsOf(container).length > 0);
  if (bad.length === 0) return undefined;
  const ports = sorted(bad.flatMap(hostPortsOf));
  const uses = bad.length === 1 ? 'uses' : 'use';
  return {
    reason: 'hostPort',
    detail: `${containerList(bad)} ${uses} ${plural('hostPort', ports.length)} ${ports.join(', ')}`,
  };
};

const HANDLERS = [
  ['livenessProbe'],
  ['readinessProbe'],
  ['startupProbe'],
  ['lifecycle', 'postStart'],
  ['lifecycle', 'preStop'],
];

const handlerHosts = (container: JsonObject): string[] =>
  HANDLERS.flatMap((path) =>
    ['httpGet', 'tcpSocket'].map((action) => textAt(container, ...path, action, 'host')).filter((host) => host !== ''),
  );

export const hostProbes: CheckPod = ({ spec }) => {
  const bad = containersOf(spec).filter((container) => handlerHosts(container).length > 0);
  if (bad.length === 0) return undefined;
  const [names, hosts] = [sorted(namesOf(bad)), sorted(bad.flatMap(handlerHosts))];
  const [uses, noun] = [names.length === 1 ? 'uses' : 'use', plural('probe or lifecycle host', hosts.length)];
  const who = `${plural('container', names.length)} ${quotedNames(names)}`;
  return { reason: 'probe or lifecycle host', detail: `${who} ${uses} ${noun} ${quotedNames(hosts)}` };
};

export const privileged: CheckPod = ({ spec }) => {
  const bad = containersOf(spec).filter((container) => booleanAt(container, 'securityContext', 'privileged'));
  if (bad.length === 0) return undefined;
  return { reason: 'privileged', detail: `${containerList(bad)} must not set securityContext.privileged=true` };
};

export const windowsHostProcess: CheckPod = ({ spec }) => {
  const isSet = (value: unknown) => booleanAt(value, 'securityContext', 'windowsOptions', 'hostProcess');
  const who = setters(isSet(spec), containersOf(spec).filter(isSet));
  if (who === '') return undefined;
  return { reason: 'hostProcess', detail: `${who} must not set securityContext.windowsOptions.hostProcess=true` };
};

const procMountOf = (container: JsonObject): string => textAt(container, 'securityContext', 'procMount');

export const procMount: CheckPod = ({ spec }) => {
  const bad = containersOf(spec).filter((container) => !['', 'Default'].includes(procMountOf(container)));
  if (bad.length === 0) return undefined;
  const types = quotedNames(sorted(bad.map(procMountOf)));
  return { reason: 'procMount', detail: `${containerList(bad)} must not set securityContext.procMount to ${types}` };
};
