/**
 * A node with a Kubernetes API and pods in many states, which produce series for all metrics, and a Prometheus with the configuration in
 * `contrib`.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync } from 'node:fs';
import { runChecked } from '@podwright/host';
import { DockerRegistry } from '../images/docker-registry.ts';
import type { Bundle } from '../pods/bundle.fixture.ts';
import { exampleImage, forever, freePort, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';
import { readContrib } from './dashboard.fixture.ts';

const READY = 'readinessProbe: {periodSeconds: 1, exec: {command: ["true"]}}';
const NEVER_READY = 'readinessProbe: {periodSeconds: 1, exec: {command: ["false"]}}';

type Made = { name: string; image?: string; script?: string; rest?: string; volumes?: string };

const podOf = ({ name, image = exampleImage, script = forever, rest = '', volumes = '' }: Made) => `---
apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: shop}
spec:
  terminationGracePeriodSeconds: 1
  ${volumes}
  containers:
  - name: main
    image: ${image}
    command: [sh, -c, ${JSON.stringify(script)}]
    ${rest}
`;

/**
 * Returns manifests of pods that are ready, fail a probe, crash after their image has been pulled, cannot pull their image, or whose
 * container cannot be created.
 */
function pods(pulled: string, absent: string): string {
  const limits = 'resources: {limits: {cpu: 500m, memory: 64Mi}}';
  const data = 'volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]';
  return [
    podOf({
      name: 'web',
      rest: `${READY}\n    ${limits}\n    volumeMounts: [{name: data, mountPath: /data}]`,
      volumes: data,
    }),
    podOf({ name: 'unready', rest: NEVER_READY }),
    podOf({ name: 'crash', image: pulled, script: 'sleep 3; exit 3', rest: 'imagePullPolicy: Always' }),
    podOf({ name: 'absent', image: absent }),
    podOf({ name: 'broken', rest: 'workingDir: /dev/null/absent' }),
  ].join('');
}

const OBJECTS = `apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.absent.example.com}
spec:
  group: absent.example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {name: absent, namespace: shop}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-forbidden}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "object.metadata.name != 'forbidden'"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-forbidden}
spec: {policyName: no-forbidden, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: absent}
webhooks:
- name: absent.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  clientConfig: {url: "https://127.0.0.1:1/"}
  objectSelector: {matchLabels: {webhook: absent}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
`;

export class MonitoredNode {
  readonly place: NodePlace;
  readonly origin: string;
  readonly prometheus: StartedProgram;
  readonly #undo: AsyncDisposableStack;

  private constructor(parts: {
    place: NodePlace;
    prometheus: StartedProgram;
    port: number;
    undo: AsyncDisposableStack;
  }) {
    this.place = parts.place;
    this.origin = `http://127.0.0.1:${parts.port}`;
    this.prometheus = parts.prometheus;
    this.#undo = parts.undo;
  }

  /**
   * Starts a node and Prometheus by following the steps in `contrib/prometheus/README.md`. If a step fails, removes what has been started.
   */
  static async start(bundle: Bundle, subnet: string): Promise<MonitoredNode> {
    await using undo = new AsyncDisposableStack();
    const place = new NodePlace(bundle, subnet, { hasApi: false });
    undo.defer(() => place.remove());
    const [kubelet, api, port] = [await freePort(), await freePort(), await freePort()];
    await startNode(place, { kubelet, api });
    await writeAccess(place);
    const prometheus = startPrometheus(place, { kubelet, api, port });
    undo.defer(() => void prometheus.child.kill('SIGKILL'));
    await prometheus.until(/Server is ready to receive web requests/);
    const registry = undo.use(await DockerRegistry.start(place.path('input')));
    const copy = ['copy', '-q', '--dest-tls-verify=false', `oci-archive:${bundle.image}`];
    execFileSync('skopeo', [...copy, `docker://${registry.host}/app:1`], { stdio: 'pipe' });
    await place.ok('apply', '-f', place.file('objects.yaml', OBJECTS));
    await place.ok('apply', '-f', place.file('pods.yaml', pods(`${registry.host}/app:1`, `${registry.host}/none:1`)));
    return new MonitoredNode({ place, prometheus, port, undo: undo.move() });
  }

  /**
   * Starts a pod, and makes API requests that succeed, are rejected and fail. Must be called repeatedly, because a rate needs two samples
   * of a series.
   */
  async work(round: number): Promise<void> {
    const { place } = this;
    const apply = (name: string, labels = '') => {
      const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop, labels: {${labels}}}\n`;
      return place.call('apply', '-f', place.file('settings.yaml', text));
    };
    for (const name of [`settings-${round}`, 'forbidden']) await apply(name);
    await apply('checked', 'webhook: absent');
    const socket = place.path('state/apiserver.sock');
    await runChecked('curl', ['-sS', '--unix-socket', socket, 'http://node/apis/absent.example.com/v1/things']);
    await place.ok('apply', '-f', place.file('more.yaml', podOf({ name: `more-${round}` })));
    await place.fails(/there is no/, 'delete', 'configmap', 'absent', '-n', 'shop');
  }

  async remove(): Promise<void> {
    await this.#undo.disposeAsync();
  }
}

type Ports = { kubelet: number; api: number };

async function startNode(place: NodePlace, { kubelet, api }: Ports): Promise<void> {
  chmodSync(place.file('tokens', 'a-token\n'), 0o600);
  const server = ['[kubelet.server]', 'address = "127.0.0.1"', `port = ${kubelet}`, 'healthz_port = 0'];
  const tokens = `token_file = "${place.path('input/tokens')}"`;
  const range = `service_cidr = "${place.serviceCidr}"`;
  const lines = ['[api]', 'enabled = true', range, `listen = "127.0.0.1:${api}"`, ...server, tokens, ''];
  await place.startDaemon('--config', place.file('node.toml', lines.join('\n')), 'node');
  await place.loadImage();
}

/** Writes the tokens and certificates that Prometheus uses to its directory. */
async function writeAccess(place: NodePlace): Promise<void> {
  mkdirSync(place.path('input/prometheus'));
  await place.ok('apply', '-f', place.file('access.yaml', readContrib('prometheus/access.yaml')));
  const get = ['get', 'secret', 'prometheus-token', '-n', 'monitoring', '-o'];
  const dataOf = async (key: string) =>
    Buffer.from(await place.ok(...get, `jsonpath={.data.${key}}`), 'base64').toString();
  await place.until(async () => (await dataOf('token')) !== '');
  place.file('prometheus/api-token', await dataOf('token'));
  place.file('prometheus/api-ca.crt', await dataOf('ca\\.crt'));
  copyFileSync(place.path('input/tokens'), place.path('input/prometheus/kubelet-token'));
  copyFileSync(place.path('root/kubelet/pki/kubelet.crt'), place.path('input/prometheus/kubelet.crt'));
}

/** Starts Prometheus with the configuration in `contrib`, except for the ports and a scrape interval of one second. */
function startPrometheus(place: NodePlace, ports: Ports & { port: number }): StartedProgram {
  place.file('prometheus/alerts.yml', readContrib('prometheus/alerts.yml'));
  const config = readContrib('prometheus/prometheus.yml')
    .replaceAll('127.0.0.1:10250', `127.0.0.1:${ports.kubelet}`)
    .replace('127.0.0.1:6443', `127.0.0.1:${ports.api}`)
    .replace('scrape_interval: 15s', 'scrape_interval: 1s\n  scrape_timeout: 1s\n  evaluation_interval: 1s');
  return place.startProgram(
    'prometheus',
    `--config.file=${place.file('prometheus/prometheus.yml', config)}`,
    `--storage.tsdb.path=${place.path('prometheus-data')}`,
    `--web.listen-address=127.0.0.1:${ports.port}`,
  );
}
