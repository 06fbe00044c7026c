import type { Container, EnvVar, Probe } from '@podwright/kube-api';

/** Formats a probe as `http-get http://:8080/ delay=0s timeout=1s period=10s #success=1 #failure=3`. */
export function probeText(probe: Probe): string {
  const {
    initialDelaySeconds = 0,
    timeoutSeconds = 0,
    periodSeconds = 0,
    successThreshold = 0,
    failureThreshold = 0,
  } = probe;
  const attributes = `delay=${initialDelaySeconds}s timeout=${timeoutSeconds}s period=${periodSeconds}s #success=${successThreshold} #failure=${failureThreshold}`;
  const { exec, httpGet, tcpSocket, grpc } = probe;
  if (exec !== undefined) return `exec [${(exec.command ?? []).join(' ')}] ${attributes}`;
  if (httpGet !== undefined) {
    const { scheme = 'HTTP', host = '', port, path = '' } = httpGet;
    const at = port === undefined ? host : `${host}:${port}`;
    return `http-get ${scheme.toLowerCase()}://${at}${path.startsWith('/') || path === '' ? path : `/${path}`} ${attributes}`;
  }
  if (tcpSocket !== undefined) {
    const { host = '' } = tcpSocket as { host?: string };
    return `tcp-socket ${host}:${tcpSocket.port} ${attributes}`;
  }
  if (grpc !== undefined) return `grpc <pod>:${grpc.port} ${grpc.service ?? ''} ${attributes}`;
  return `unknown ${attributes}`;
}

/** Formats the value of an environment variable, or its source. */
export function variableText({ value = '', valueFrom }: EnvVar, { resources }: Container): string {
  const { fieldRef, resourceFieldRef, secretKeyRef, configMapKeyRef } = valueFrom ?? {};
  if (fieldRef !== undefined) return ` (${fieldRef.apiVersion ?? 'v1'}:${fieldRef.fieldPath})`;
  if (resourceFieldRef !== undefined) {
    const [list, name = ''] = resourceFieldRef.resource.split('.') as ['limits' | 'requests', string?];
    const amount = resources?.[list]?.[name];
    const shown = amount ?? (list === 'limits' ? `node allocatable` : '0');
    return `${shown} (${resourceFieldRef.resource})`;
  }
  if (secretKeyRef !== undefined)
    return `<set to the key '${secretKeyRef.key}' in secret '${secretKeyRef.name}'>\tOptional: ${secretKeyRef.optional ?? false}`;
  if (configMapKeyRef !== undefined)
    return `<set to the key '${configMapKeyRef.key}' of config map '${configMapKeyRef.name}'>\tOptional: ${configMapKeyRef.optional ?? false}`;
  return value;
}
