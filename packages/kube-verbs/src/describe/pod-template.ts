import type { Container, ContainerPort, EnvFromSource, PodSpec, Toleration, VolumeMount } from '@podwright/kube-api';
import type { Lines } from '../text/aligned.ts';
import type { PodTemplate } from '../workload.ts';
import { describeAnnotations, describeLabels } from './metadata.ts';
import { probeText, variableText } from './probe-text.ts';
import { describeVolumes } from './template-volumes.ts';

/** Describes the pods created by a workload. */
export function describePodTemplate(lines: Lines, template: PodTemplate | undefined): void {
  lines.add(0, 'Pod Template:');
  if (template === undefined) return lines.add(1, '<unset>');
  const { metadata = {}, spec } = template;
  describeLabels(lines, metadata.labels, 1);
  if (Object.keys(metadata.annotations ?? {}).length > 0) describeAnnotations(lines, metadata.annotations, 1);
  if (spec.serviceAccountName) lines.add(1, `Service Account:\t${spec.serviceAccountName}`);
  describeContainers(lines, 'Init Containers', spec.initContainers);
  describeContainers(lines, 'Containers', spec.containers);
  describeVolumes(lines, spec.volumes);
  describeSpread(lines, spec);
  if (spec.priorityClassName) lines.add(1, `Priority Class Name:\t${spec.priorityClassName}`);
  lines.list(
    1,
    'Node-Selectors',
    Object.entries(spec.nodeSelector ?? {}).map(([key, value]) => `${key}=${value}`),
  );
  lines.list(1, 'Tolerations', (spec.tolerations ?? []).map(tolerationText));
}

function describeContainers(lines: Lines, title: string, containers: readonly Container[] | undefined): void {
  if (containers === undefined || containers.length === 0) return;
  lines.add(1, `${title}:`);
  for (const container of containers) describeContainer(lines, container);
}

function describeContainer(lines: Lines, container: Container): void {
  const add = (text: string) => lines.add(2, text);
  const { name, image, ports = [], command = [], args = [], resources = {} } = container;
  lines.add(1, ` ${name}:`);
  add(`Image:\t${image}`);
  const suffix = ports.length > 1 ? 's' : '';
  add(`Port${suffix}:\t${portsText(ports, ({ containerPort }) => containerPort)}`);
  add(`Host Port${suffix}:\t${portsText(ports, ({ hostPort = 0 }) => hostPort)}`);
  describeWords(lines, 'Command', command);
  describeWords(lines, 'Args', args);
  describeAmounts(lines, 'Limits', resources.limits);
  describeAmounts(lines, 'Requests', resources.requests);
  for (const [title, probe] of [
    ['Liveness', container.livenessProbe],
    ['Readiness', container.readinessProbe],
    ['Startup', container.startupProbe],
  ] as const)
    if (probe !== undefined) add(`${title}:\t${probeText(probe)}`);
  describeEnvironment(lines, container);
  const mounts = [...(container.volumeMounts ?? [])].sort((a, b) => (a.mountPath < b.mountPath ? -1 : 1));
  add(mounts.length === 0 ? 'Mounts:\t<none>' : 'Mounts:');
  for (const mount of mounts) lines.add(3, mountText(mount));
  const devices = container.volumeDevices ?? [];
  if (devices.length > 0) add('Devices:');
  for (const { devicePath, name } of devices) lines.add(3, `${devicePath} from ${name}`);
}

function portsText(ports: readonly ContainerPort[], portOf: (port: ContainerPort) => number): string {
  if (ports.length === 0) return '<none>';
  return ports
    .map((port) => `${portOf(port)}/${port.protocol ?? 'TCP'}${port.name ? ` (${port.name})` : ''}`)
    .join(', ');
}

function describeWords(lines: Lines, title: string, words: readonly string[]): void {
  if (words.length === 0) return;
  lines.add(2, `${title}:`);
  for (const line of words.flatMap((word) => word.split('\n'))) lines.add(3, line);
}

function describeAmounts(lines: Lines, title: string, amounts: Record<string, string> | undefined): void {
  const sorted = Object.entries(amounts ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  if (sorted.length === 0) return;
  lines.add(2, `${title}:`);
  for (const [name, amount] of sorted) lines.add(3, `${name}:\t${amount}`);
}

function describeEnvironment(lines: Lines, container: Container): void {
  const { env = [], envFrom = [] } = container;
  if (envFrom.length > 0) {
    lines.add(2, 'Environment Variables from:');
    for (const source of envFrom) lines.add(3, sourceText(source));
  }
  lines.add(2, env.length === 0 ? 'Environment:\t<none>' : 'Environment:');
  for (const variable of env) {
    const [first = '', ...rest] = variableText(variable, container).split('\n');
    lines.add(3, `${variable.name}:\t${first}`);
    for (const line of rest) lines.add(3, `\t${line}`);
  }
}

function sourceText({ prefix, configMapRef, secretRef }: EnvFromSource): string {
  const [kind, source] = configMapRef === undefined ? ['Secret', secretRef] : ['ConfigMap', configMapRef];
  const with_ = prefix ? ` with prefix '${prefix}'` : '';
  return `${source?.name}\t${kind}${with_}\tOptional: ${source?.optional ?? false}`;
}

function mountText({ mountPath, name, readOnly, subPath, subPathExpr }: VolumeMount): string {
  const path = subPath || subPathExpr;
  return `${mountPath} from ${name} (${readOnly ? 'ro' : 'rw'}${path ? `,path="${path}"` : ''})`;
}

function describeSpread(lines: Lines, { topologySpreadConstraints: spread = [] }: PodSpec): void {
  if (spread.length === 0) return;
  const texts = spread.map(
    ({ topologyKey, whenUnsatisfiable, maxSkew }) =>
      `${topologyKey}:${whenUnsatisfiable} when max skew ${maxSkew} is exceeded`,
  );
  lines.list(1, 'Topology Spread Constraints', texts);
}

function tolerationText({ key = '', operator, value, effect, tolerationSeconds }: Toleration): string {
  const what = `${key}${value ? `=${value}` : ''}${effect ? `:${effect}` : ''}`;
  const exists = operator === 'Exists' && !value ? (key === '' && !effect ? 'op=Exists' : ' op=Exists') : '';
  return `${what}${exists}${tolerationSeconds === undefined ? '' : ` for ${tolerationSeconds}s`}`;
}
