/** Runs every command in the documents as written, as a reader on a simulated host would; each must do what the document says. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Output } from '../../scripts/pictures/terminal-session.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, podManifest } from '../pods/node.fixture.ts';
import { type Block, commandLines, fileNameOf, readBlocks } from './blocks.ts';
import { missingLine } from './output-shape.ts';
import { CTRL_C, Reader, screenText } from './reader.fixture.ts';

const DOCUMENTS = [
  'README.md',
  ...readdirSync(new URL('../../docs', import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const IN_CLUSTER = 'needs a control plane: tests/cluster has one, and the same commands';

const ON_DOCKER = 'needs a host with Docker at its usual socket; tests/dockershim has its own Engine';

/** Blocks marked `host`, by their first command, with the reason why they are not run here: they need an entire host. */
const MARKED: Record<string, string> = {
  'README.md: sh install.sh SOURCE && podwright doctor --fix': 'needs a release: tests/install',
  'README.md: make run': 'sets up the checkout; tests/vm/readme.vm.ts runs it in a guest',
  'docs/cluster.md: kubeadm token create --print-join-command': IN_CLUSTER,
  'docs/cluster.md: podwright join 192.0.2.1:6443 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash sha256:1f3c…':
    IN_CLUSTER,
  'docs/cluster.md: kubectl get nodes': IN_CLUSTER,
  'docs/cluster.md: podwright apply -f token.yaml': 'needs a node with a port: tests/cluster/second-node.test.ts',
  'docs/cluster.md: kubectl drain worker --ignore-daemonsets --delete-emptydir-data': IN_CLUSTER,
  'docs/cluster.md: podwright node --kubeconfig /etc/kubernetes/kubelet.conf --kubelet-configuration /var/lib/kubelet/config.yaml':
    IN_CLUSTER,
  'docs/cri-proxy.md: podwright cri-proxy --listen unix:///run/p.sock --to unix:///run/containerd/containerd.sock':
    'needs a kubelet and containerd: tests/cri-proxy',
  "docs/cri-proxy.md: podwright cri-proxy --listen unix:///run/p.sock --to unix:///run/containerd/containerd.sock --script <(echo 'rules: [{method: RunPodSandbox, delay: 3m}]')":
    'needs a kubelet and containerd: tests/cri-proxy/command.test.ts delays a call by the same command',
  'docs/dashboard.md: podwright dashboard': 'needs a browser: tests/dashboard',
  'docs/dashboard.md: ssh -t -L 8080:127.0.0.1:8080 HOST podwright dashboard --listen 8080':
    'needs another machine; tests/dashboard opens the page through another port',
  'docs/dashboard.md: kubectl podwright why deploy/web -n shop':
    'needs kubectl and a cluster: tests/workloads/kubectl-plugin.test.ts',
  'docs/dockershim.md: podwright kubelet --container-runtime=docker --docker-endpoint=unix:///var/run/docker.sock --network-plugin=cni':
    ON_DOCKER,
  'docs/dockershim.md: podwright dockershim --docker-endpoint unix:///var/run/docker.sock --listen unix:///run/podwright/dockershim.sock':
    ON_DOCKER,
  'docs/guide.md: make setup': 'sets up the checkout; tests/vm/readme.vm.ts runs it in a guest',
  'docs/guide.md: cp contrib/podwright.service /etc/systemd/system/': 'needs systemd: tests/vm/readme.vm.ts',
  'docs/guide.md: systemctl disable --now podwright': 'needs systemd: tests/vm/readme.vm.ts',
  'docs/installing.md: sh install.sh SOURCE': 'needs a release: tests/install',
  'docs/installing.md: podwright doctor --fix': 'installs packages: tests/install/first-pod.test.ts',
  'docs/installing.md: podwright stop': 'needs an installation: tests/vm/release',
  'docs/workloads.md: podwright run app.yaml': 'an example of several ways: tests/workloads/run.test.ts',
  'docs/workloads.md: podwright up': 'a list of examples: tests/workloads/commands.test.ts',
  'docs/workloads.md: podwright controllers --kubeconfig FILE':
    'another cluster; tests/workloads/cluster-parts.test.ts runs the daemons on an API server',
};

/** Commands that need a terminal: the output that a reader waits for, and the keys that end them. */
const PLAYED: [RegExp, { until: RegExp; keys: string }][] = [
  [/^podwright run \S+$/, { until: /TOOK[\s\S]*Running[^\n]*\n/, keys: CTRL_C }],
  [/^podwright node$/, { until: /connected to the runtime/, keys: CTRL_C }],
  [/^podwright exec -it .*\bsh$/, { until: /# /, keys: 'exit\n' }],
  [/^podwright (?:logs -f|events -w|top .*-w|get .*-w|port-forward)\b/, { until: /\S[^\n]*\n/, keys: CTRL_C }],
];

/** Read-only commands. Pods take time to start, so these are repeated until they print the output in the document. */
const READING = /^(?:podwright (?:ps|get|describe|logs|events|trace|images)|curl)\b/;

const playOf = (line: string) => PLAYED.find(([pattern]) => pattern.test(line))?.[1];
const isShell = ({ language }: Block) => language === 'sh';
const isMarked = ({ marks }: Block) => marks.includes('host');

let bundle: Bundle;
let reader: Reader;
before(async () => {
  bundle = await buildBundle();
  reader = await Reader.start(bundle);
  await reader.serveImages(bundle.image, ['library/busybox:1.36', 'library/busybox:1.37']);
});
after(async () => {
  await reader[Symbol.asyncDispose]();
  bundle.remove();
});

/**
 * Runs the commands in a code block of a document and returns their output; `textOf` converts the output of commands that need a terminal.
 */
async function follow(block: Block, textOf: (outputs: Output[]) => string): Promise<string> {
  let printed = '';
  for (const line of commandLines(block)) {
    const play = playOf(line);
    if (play !== undefined) printed += textOf(await reader.play(line, play));
    else {
      const { code, out } = await reader.run(line);
      assert.equal(code, 0, `${block.document}:${block.line}: ${line}\n${out}`);
      printed += out;
    }
  }
  return printed;
}

/** Like `follow`, but also compares the output with the document's next code block, which shows it. */
async function followAndCompare(block: Block, shown: Block | undefined): Promise<void> {
  const place = `${block.document}:${block.line}`;
  let printed = await follow(block, screenText);
  if (shown?.language !== 'text') return assert.equal(printed, '', `${place}: its output is not documented`);
  const readings = commandLines(block).filter((line) => READING.test(line));
  const isShown = async () => {
    if (missingLine(shown.text, printed) === undefined) return true;
    if (readings.length > 0) printed += await follow({ ...block, text: readings.join('\n') }, screenText);
    return readings.length === 0;
  };
  await reader.until(isShown).catch(() => undefined);
  const missing = missingLine(shown.text, printed);
  assert.equal(missing, undefined, `${place}: the output is\n${printed}\nwithout the line: ${missing}`);
}

test('the guide can be followed from start to finish, and shows the real output', async () => {
  const blocks = readBlocks('docs/guide.md');
  for (const [index, block] of blocks.entries()) {
    const file = fileNameOf(block);
    if (file !== undefined) await reader.write(file, block.text);
    else if (isShell(block) && !isMarked(block)) await followAndCompare(block, blocks[index + 1]);
    else if (block.text.includes('systemctl enable')) await reader.startNode();
    else if (block.text.includes('systemctl disable')) await reader.stopNode();
  }
});

/** The pod that the commands in the README refer to. */
const pod = podManifest('web', `echo started; ${forever}`).replace('name: main', 'name: server');
const page = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: page}\ndata: {greeting: hello}\n';

/** Ensures that the pod is ready: the README's commands are independent examples, not a session. */
async function haveWeb(): Promise<void> {
  await reader.startNode();
  await reader.run('podwright apply pod.yaml');
  await reader.until(async () => /\bweb +1\/1 +Running/.test((await reader.run('podwright ps')).out));
}

/** Manifest for the commands in docs/volumes.md: a pod with a claim. */
const app = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
${podManifest('app', forever)}    volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
`;

async function haveClaim(line: string): Promise<void> {
  await reader.run('podwright apply -f app.yaml');
  await reader.until(async () => /\bapp +1\/1 +Running/.test((await reader.run('podwright ps')).out));
  if (/delete pvc/.test(line)) await reader.run('podwright delete app');
}

test('every command in the README and the other documents has the documented result', async () => {
  await reader.write('pod.yaml', pod);
  await reader.write('deploy/pod.yaml', pod);
  await reader.write('settings/page.yaml', page);
  await reader.write('app.yaml', app);
  const blocks = DOCUMENTS.filter((document) => document !== 'docs/guide.md').flatMap(readBlocks);
  const list = blocks.filter((block) => isShell(block) && !isMarked(block));
  assert.ok(list.flatMap(commandLines).length >= 15);
  await reader.startNode();
  await reader.run(`podwright pull busybox:1.37 && podwright load ${bundle.image}`);
  await haveWeb();
  for (const block of list) {
    for (const line of commandLines(block)) {
      if (/^podwright (?:run|node)\b/.test(line)) await reader.run('podwright delete web');
      if (/^podwright node\b/.test(line)) await reader.stopNode();
      if (/ pvc | --volumes/.test(line)) await haveClaim(line);
      await follow({ ...block, text: line }, () => '');
      if (/^podwright stop\b/.test(line)) await reader.stopNode();
      if (/^podwright (?:run|delete|stop|restart|node)\b/.test(line)) await haveWeb();
    }
  }
  await reader.stopNode();
});

test('exactly the listed blocks are not run here', () => {
  const marked = DOCUMENTS.flatMap(readBlocks).filter((block) => block.marks.length > 0);
  for (const block of marked) assert.deepEqual([block.language, block.marks], ['sh', ['host']], block.document);
  assert.deepEqual(
    marked.map((block) => `${block.document}: ${commandLines(block)[0]}`),
    Object.keys(MARKED),
  );
});

test('variable parts of the output are not compared', () => {
  const table = 'NAME   READY   IP          AGE\nweb    1/1     10.83.0.2   2.7 s\n';
  const cases: [string, string, string | undefined][] = [
    [table, 'NAME  READY  IP  AGE\nweb  1/1  10.1.2.3  14 m\n', undefined],
    [table, 'NAME  READY  AGE\nweb  1/1  14 m\n', 'NAME   READY   IP          AGE'],
    [table, 'NAME  READY  IP  AGE\nweb  0/1  10.1.2.3  14 m\n', 'web    1/1     10.83.0.2   2.7 s'],
    ['a\nb\n', 'b\na\n', 'b'],
    ['a\n…\nb … d\n', 'a\nother\nb c d\n', undefined],
    ['1.5 KiB, 0123456789ab (x3)\n', '97 MiB, ba9876543210fedc\n', undefined],
    ['a.c\n', 'abc\n', 'a.c'],
  ];
  for (const [shown, printed, expected] of cases) assert.equal(missingLine(shown, printed), expected, shown);
});
