/** A node joined to a test's API server: kubelet and runtime in one process, authenticated with a client certificate. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { waitFor, withTimeout } from '@podwright/base';
import { EXAMPLE_IMAGE_NAME } from '../../scripts/example-image.ts';
import { freePort, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';
import { ApiPlace } from './api-place.fixture.ts';

export const NODE = 'worker';

export class JoinedNode {
  readonly api: ApiPlace;
  readonly #place: NodePlace;

  private constructor(api: ApiPlace, place: NodePlace) {
    this.api = api;
    this.#place = place;
  }

  /** Starts an API server and a node, and waits until the node is ready. */
  static async start(subnet: string): Promise<JoinedNode> {
    const api = await ApiPlace.start();
    const node = new JoinedNode(api, new NodePlace(api.bundle, subnet));
    await node.#join();
    return node;
  }

  async #join(): Promise<void> {
    const kubeconfig = this.api.kubeconfigOf(`system:node:${NODE}`, 'system:nodes');
    const [, encoded = ''] = /certificate-authority-data: (\S+)/.exec(readFileSync(kubeconfig, 'utf8')) ?? [];
    const clientCAFile = this.#place.file('ca.crt', Buffer.from(encoded, 'base64').toString());
    const configuration = {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      port: await freePort(),
      healthzPort: 0,
      authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile } },
      authorization: { mode: 'Webhook' },
      evictionHard: { 'memory.available': '0%' },
      containerLogMaxSize: '100Mi',
    };
    const lines = [
      `node_name = "${NODE}"`,
      '[cluster]',
      `kubeconfig = "${kubeconfig}"`,
      `kubelet_configuration = "${this.#place.file('kubelet.yaml', JSON.stringify(configuration))}"`,
    ];
    const daemon = this.#place.start('--config', this.#place.file('config.toml', lines.join('\n')), 'node');
    await this.#place.until(async () => daemon.child.exitCode !== null || (await this.#place.call('ps')).code === 0);
    if (daemon.child.exitCode !== null) throw new Error(`the node exited: ${daemon.err}${this.#place.log()}`);
    await this.#place.loadImage();
    await this.until(
      () => this.ok('get', 'node', NODE).includes(' Ready '),
      () => `${daemon.err}${this.#place.log()}`,
    );
  }

  /** Runs kubectl, which must succeed, and returns its output. */
  ok(...args: string[]): string {
    const { code, out, err } = this.api.kubectl(...args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${err}${out}`);
    return out;
  }

  /** Runs kubectl, expecting it to fail, and returns its stderr. */
  fails(...args: string[]): string {
    const { code, out, err } = this.api.kubectl(...args);
    if (code === 0) throw new Error(`kubectl ${args.join(' ')} succeeded: ${out}`);
    return err;
  }

  start(...args: string[]): StartedProgram {
    return this.api.startKubectl(...args);
  }

  /** Creates pods from the test image on the node and waits until they are ready. */
  async run(...pods: PodGiven[]): Promise<void> {
    const list = { apiVersion: 'v1', kind: 'List', items: pods.map(podOf) };
    this.ok('create', '-f', this.api.file('pods.json', JSON.stringify(list)));
    const names = pods.map(({ name }) => name);
    const ready = '{.items[*].status.conditions[?(@.type=="Ready")].status}';
    await this.until(
      () =>
        this.ok('get', 'pods', '-o', `jsonpath=${ready}`)
          .split(' ')
          .every((status) => status === 'True'),
      () => this.ok('describe', 'pods', ...names),
    );
  }

  writeManifest(name: string, pod: PodGiven): void {
    const [path, unfinished] = [name, `.${name}`].map((one) => this.#place.path('root/manifests', one));
    writeFileSync(unfinished!, JSON.stringify(podOf(pod)));
    renameSync(unfinished!, path!);
  }

  async until(holds: () => boolean, details: () => string): Promise<void> {
    using signal = withTimeout(undefined, 60_000, `wait for ${holds}`);
    await waitFor(() => (attempt(holds) ? true : undefined), { intervalMs: 200, signal }).catch((error: unknown) => {
      throw new Error(`${error}: ${details()}`);
    });
  }

  async remove(): Promise<void> {
    await this.#place.remove();
    await this.api.remove();
  }
}

function attempt(holds: () => boolean): boolean {
  try {
    return holds();
  } catch {
    return false; // such as a node that has not registered yet
  }
}

/** A pod, described by the shell scripts that its containers run. */
export type PodGiven = { name: string; scripts: Record<string, string>; container?: object };

function podOf({ name, scripts, container }: PodGiven): object {
  const containers = Object.entries(scripts).map(([containerName, script]) => ({
    name: containerName,
    image: EXAMPLE_IMAGE_NAME,
    imagePullPolicy: 'Never',
    command: ['sh', '-c', script],
    ...container,
  }));
  const spec = { nodeName: NODE, terminationGracePeriodSeconds: 1, containers };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app: name } }, spec };
}
