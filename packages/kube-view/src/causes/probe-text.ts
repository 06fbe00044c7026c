/** Descriptions of probes and of their results. Pure. */
import type { Container, Pod } from '@podwright/kube-api';
import { containerOf, firstLine } from './containers.ts';

type Probe = NonNullable<Container['readinessProbe']>;
type Probed = { probe: Probe | undefined; container: Container | undefined };

/** Describes what a probe does, such as `GET /healthz on port http (8080)`. `container`: the container that declares its named port. */
export function probeText({ httpGet, tcpSocket, exec, grpc }: Probe, container?: Container): string {
  const of = (port: number | string) => portText(port, container);
  if (httpGet !== undefined) return `GET ${httpGet.path || '/'} on port ${of(httpGet.port)}`;
  if (tcpSocket !== undefined) return `connect to port ${of(tcpSocket.port)}`;
  if (grpc !== undefined) return `gRPC on port ${grpc.port}`;
  return `run ${exec?.command?.join(' ') ?? ''}`;
}

function portText(port: number | string, container: Container | undefined): string {
  const known = portNumber(port, container);
  return known === undefined || known === port ? String(port) : `${port} (${known})`;
}

/** Returns the number of a probe's port. Undefined for a name that the container does not declare. */
function portNumber(port: number | string, container: Container | undefined): number | undefined {
  return typeof port === 'number' ? port : container?.ports?.find(({ name }) => name === port)?.containerPort;
}

/**
 * Returns a probe's result from the message of the probe failure event, such as `GET /healthz on port 8080: HTTP probe failed with
 * statuscode: 404`. For a command, the result is what it has printed.
 */
export function probeResult(message: string, { probe, container }: Probed): string {
  const result = firstLine(message.replace(/^\w+ probe (failed|errored[^:]*): /, ''));
  return probe === undefined || probe.exec !== undefined ? result : `${probeText(probe, container)}: ${result}`;
}

/** Returns a shell command that repeats a container's probe; undefined if the address or the port is not known. */
export function probeCommand({ pod, name, probe }: { pod: Pod; name: string; probe: Probe }): string | undefined {
  const { httpGet, tcpSocket, exec } = probe;
  const { namespace, name: podName } = pod.metadata;
  if (exec !== undefined)
    return `kubectl exec -n ${namespace} ${podName} -c ${name} -- ${(exec.command ?? []).map(quoted).join(' ')}`;
  const container = containerOf(pod, name);
  const port = portNumber(httpGet?.port ?? tcpSocket?.port ?? '', container);
  const host = httpGet?.host || tcpSocket?.host || pod.status?.podIP;
  if (port === undefined || host === undefined) return undefined;
  const address = host.includes(':') ? `[${host}]` : host;
  if (httpGet === undefined) return `nc -vz ${host} ${port}`;
  const isTls = httpGet.scheme === 'HTTPS';
  const path = httpGet.path || '/';
  const url = `${isTls ? 'https' : 'http'}://${address}:${port}${path.startsWith('/') ? '' : '/'}${path}`;
  return `curl -i${isTls ? 'k' : ''} ${quoted(url)}`;
}

/** Quotes a word for a shell, unless it has no special characters. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
