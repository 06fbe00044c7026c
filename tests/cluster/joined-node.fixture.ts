/** Additional nodes for a standalone node's API: Podwright's, and upstream's kubelet on containerd. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { writeExampleArchive } from '../../scripts/example-image.ts';
import { startUpstreamKubelet } from '../../scripts/upstream-kubelet.ts';
import type { Bundle } from '../pods/bundle.fixture.ts';
import type { Machine } from './machine.fixture.ts';

/** What a node needs to join: the API server's address, a bootstrap token, and the CA. */
export type Invitation = { server: string; token: string; hash: string; authority: string };

export type JoinedNode = {
  machine: Machine;
  /** The directory of the node's certificates on the machine. */
  pki: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  log(): string;
};

const PAUSE_IMAGE = 'localhost/podwright/pause:1';
const CONTAINERD_SOCKET = '/run/containerd.sock';

/** Returns a machine's configuration for `podwright`. */
export const settingsOf = ({ name, subnet, cgroupParent }: Machine, more = ''): string => `node_name = "${name}"
cgroup_parent = "${cgroupParent}"
${more}
[network]
subnet = "${subnet}"
[kubelet.eviction]
hard = {} # a full disk of the host must not evict pods
`;

export async function joinPodwright(
  machine: Machine,
  { server, token, hash }: Invitation,
  bundle: Bundle,
): Promise<JoinedNode> {
  const config = machine.file('config.toml', settingsOf(machine));
  const podwright = ['podwright', '--config', config];
  const flags = ['--token', token, '--discovery-token-ca-cert-hash', hash];
  await machine.ok(...podwright, 'join', server, ...flags);
  const start = async () => {
    machine.start('node', ...podwright, 'node');
    await machine.until(() => true, ...podwright, 'ps'); // other commands would start a node themselves
  };
  await start();
  await machine.ok(...podwright, 'load', bundle.image);
  const pki = '/var/lib/podwright/kubelet/pki';
  return { machine, pki, start, kill: () => machine.kill('node'), log: () => machine.log('node') };
}

/** Starts containerd and upstream's kubelet, which requests its certificates with the bootstrap token. */
export async function joinUpstream(machine: Machine, invited: Invitation, program: string): Promise<JoinedNode> {
  for (const name of ['net.d', 'containerd', 'manifests']) mkdirSync(machine.path(name));
  writeNetworkList(machine);
  const config = machine.file('containerd.toml', containerdConfig(machine));
  machine.start('containerd', 'containerd', '--config', config);
  const ctr = ['ctr', '-a', CONTAINERD_SOCKET, '-n', 'k8s.io'];
  await machine.until(() => true, ...ctr, 'version');
  const pause = { name: PAUSE_IMAGE, config: { Entrypoint: ['/bin/sleep', '1000000000'], Cmd: [] } };
  for (const options of [{}, pause]) {
    await writeExampleArchive(machine.path('image.tar'), options);
    await machine.ok(...ctr, 'images', 'import', machine.path('image.tar'));
  }
  machine.file('ca.crt', invited.authority);
  machine.file('bootstrap.conf', bootstrapKubeconfig(invited));
  const start = async () => {
    await startUpstreamKubelet({ ...kubeletOptions(machine), program });
  };
  await start();
  const kill = () => machine.kill('kubelet');
  return { machine, pki: machine.path('pki'), start, kill, log: () => machine.log('kubelet') };
}

function kubeletOptions(machine: Machine) {
  const script = 'echo $$ > kubelet.pid; exec "$0" "$@" >> kubelet.log 2>&1';
  return {
    directory: machine.directory,
    root: machine.path('kubelet'),
    manifests: machine.path('manifests'),
    logs: '/var/log/pods',
    endpoint: `unix://${CONTAINERD_SOCKET}`,
    ports: { https: 10_250, healthz: 10_248 },
    cgroupRoot: machine.cgroupParent,
    command: (...words: string[]) => machine.command('sh', '-c', script, ...words),
    flags: [
      ...['--hostname-override', machine.name, '--node-ip', machine.address],
      ...['--bootstrap-kubeconfig', machine.path('bootstrap.conf'), '--kubeconfig', machine.path('kubelet.conf')],
    ],
    configuration: {
      address: '0.0.0.0',
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: true },
        x509: { clientCAFile: machine.path('ca.crt') },
      },
      authorization: { mode: 'Webhook' },
      rotateCertificates: true,
      serverTLSBootstrap: true,
    },
  };
}

function bootstrapKubeconfig({ server, token, authority }: Invitation): string {
  const ca = Buffer.from(authority).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'join',
    contexts: [{ name: 'join', context: { cluster: 'join', user: 'join' } }],
    clusters: [{ name: 'join', cluster: { server: `https://${server}`, 'certificate-authority-data': ca } }],
    users: [{ name: 'join', user: { token } }],
  });
}

function writeNetworkList(machine: Machine): void {
  const bridge = {
    ...{ type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: false },
    ipam: {
      type: 'host-local',
      dataDir: machine.path('addresses'),
      ranges: [[{ subnet: machine.subnet }]],
      routes: [{ dst: '0.0.0.0/0' }],
    },
  };
  const plugins = [bridge, { type: 'portmap', capabilities: { portMappings: true } }];
  writeFileSync(machine.path('net.d/10-pods.conflist'), JSON.stringify({ cniVersion: '0.4.0', name: 'pods', plugins }));
}

function containerdConfig(machine: Machine): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = "${machine.path('containerd')}"
state = "/run/containerd-state"
[grpc]
address = "${CONTAINERD_SOCKET}"
[plugins."io.containerd.internal.v1.opt"]
path = "${machine.path('opt')}"
[${cri}]
restrict_oom_score_adj = true
sandbox_image = "${PAUSE_IMAGE}"
[${cri}.cni]
bin_dir = "/usr/lib/cni"
conf_dir = "${machine.path('net.d')}"
[${cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.runc.options]
Root = "/run/containerd-runc"
`;
}
