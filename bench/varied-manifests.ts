import { IMAGE } from './sides.ts';

/** Fields to add to the manifest of a pod with one container of the benchmark image. `more`: additional containers. */
type Fields = { container?: object; spec?: object; metadata?: object; more?: object[] };

const volume = (mountPath: string) => ({ volumeMounts: [{ name: 'v', mountPath }] });

/**
 * Twenty different pods with common features, all supported by Podman 4.3. They have no readiness probes, because the benchmark measures
 * the time until containers have started.
 */
const VARIED: Record<string, Fields> = {
  plain: {},
  environment: {
    container: {
      env: [
        { name: 'A', value: 'b' },
        { name: 'LONG', value: 'x'.repeat(1000) },
      ],
    },
  },
  two: { more: [{ name: 'second' }] },
  three: { more: [{ name: 'second' }, { name: 'third' }] },
  shared: {
    container: volume('/shared'),
    more: [{ name: 'reader', ...volume('/shared') }],
    spec: { volumes: [{ name: 'v', emptyDir: {} }] },
  },
  host: { container: volume('/host'), spec: { volumes: [{ name: 'v', hostPath: { path: '/usr/share' } }] } },
  limits: { container: { resources: { limits: { memory: '64Mi', cpu: '500m' }, requests: { memory: '32Mi' } } } },
  user: { container: { securityContext: { runAsUser: 1000, runAsGroup: 1000 } } },
  readonly: { container: { securityContext: { readOnlyRootFilesystem: true } } },
  capabilities: { container: { securityContext: { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } } } },
  privileged: { container: { securityContext: { privileged: true } } },
  labels: { metadata: { labels: { app: 'web', tier: 'front' }, annotations: { 'example.com/note': 'n'.repeat(60) } } },
  named: { spec: { hostname: 'named' } },
  network: { spec: { hostNetwork: true } },
  aliases: { spec: { hostAliases: [{ ip: '192.0.2.1', hostnames: ['one', 'two'] }] } },
  directory: { container: { workingDir: '/tmp' } },
  terminal: { container: { tty: true, stdin: true } },
  live: { container: { livenessProbe: { exec: { command: ['true'] }, initialDelaySeconds: 5, periodSeconds: 10 } } },
  once: { spec: { restartPolicy: 'Never' } },
  port: { container: { ports: [{ containerPort: 80, hostPort: 18_080 }] } },
};

/** Returns the manifests of the pods in `VARIED` as JSON (which is valid YAML), by pod name. */
export function variedManifests(): Map<string, string> {
  return new Map(
    Object.entries(VARIED).map(([name, fields]) => [`varied-${name}`, manifest(`varied-${name}`, fields)]),
  );
}

export function manifest(name: string, { container = {}, spec = {}, metadata = {}, more = [] }: Fields = {}): string {
  const base = { image: IMAGE, command: ['sleep', '3600'] };
  const containers = [{ name: 'c', ...base, ...container }, ...more.map((one) => ({ ...base, ...one }))];
  const fields = { terminationGracePeriodSeconds: 0, ...spec, containers };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec: fields });
}
