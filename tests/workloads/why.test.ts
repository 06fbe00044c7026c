/** `podwright why` on a real node: each cause is produced for real, and must be found. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Explanation } from '@podwright/kube-view';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, forever, NodePlace } from '../pods/node.fixture.ts';
import type { StartedProgram } from '../pods/started-program.ts';

let bundle: Bundle;
let place: NodePlace;
let daemon: StartedProgram;
before(async () => {
  bundle = await buildBundle();
  place = new NodePlace(bundle, '10.172.226.0/24', { hasApi: true });
  daemon = await place.startDaemon();
  await place.loadImage();
  await place.ok('apply', place.file('all.yaml', manifests()));
});
after(async () => {
  await place.call('stop', '--delete');
  await daemon.ended();
  await place.remove();
  bundle.remove();
});

type Row = {
  /** Fields of the pod's container, in YAML flow style. */
  container: string;
  /** Fields of the pod's spec, in YAML flow style. */
  spec?: string;
  cause: string;
  /** Matches both while the container runs between two failures and while it waits for its next run. */
  sentence: RegExp;
};

const run = (script: string, rest = '') => `command: [sh, -c, ${JSON.stringify(script)}]${rest && `, ${rest}`}`;
const stays = (rest: string) => run(forever, rest);
const OTHER = 'imagePullPolicy: IfNotPresent, image: ';

const PODS: Record<string, Row> = {
  'no-registry': {
    container: `${OTHER}"registry.invalid/a/b:1"`,
    cause: 'registry-name',
    sentence: /"registry\.invalid\/a\/b:1" of container main cannot be pulled: the name of the registry/,
  },
  'closed-registry': {
    container: `${OTHER}"127.0.0.1:9/a/b:1"`,
    cause: 'registry-unreachable',
    sentence: /the registry does not answer/,
  },
  'never-pulled': {
    container: `imagePullPolicy: Never, image: "localhost/none:1"`,
    cause: 'image-absent',
    sentence: /imagePullPolicy is Never/,
  },
  'bad-name': { container: `${OTHER}"localhost/UPPER:1"`, cause: 'image-name', sentence: /has no valid name/ },
  'no-key': {
    container: stays('env: [{name: A, valueFrom: {configMapKeyRef: {name: settings, key: absent}}}]'),
    cause: 'missing-key',
    sentence: /ConfigMap default\/settings has no key "absent"/i,
  },
  'no-secret': {
    container: stays('envFrom: [{secretRef: {name: absent}}]'),
    cause: 'missing-object',
    sentence: /secret "absent" does not exist/,
  },
  'no-volume-source': {
    container: stays('volumeMounts: [{name: v, mountPath: /v}]'),
    spec: 'volumes: [{name: v, configMap: {name: absent}}]',
    cause: 'missing-object',
    sentence: /volume "v" cannot be mounted: the configmap "absent" does not exist/,
  },
  root: {
    container: stays('securityContext: {runAsNonRoot: true}'),
    cause: 'runs-as-root',
    sentence: /runAsNonRoot/,
  },
  'no-program': {
    container: 'command: [no-such-program]',
    cause: 'no-program',
    sentence: /has no program "no-such-program"/,
  },
  format: {
    container: 'command: [/v/program]',
    spec:
      `volumes: [{name: v, emptyDir: {}}], initContainers: [{name: make, image: "${exampleImage}", ` +
      `command: [sh, -c, "printf '\\\\177ELFxx' > /v/program; chmod +x /v/program"], volumeMounts: [{name: v, mountPath: /v}]}]`,
    cause: 'exec-format',
    sentence: /exit code|architecture/,
  },
  crash: {
    container: run('echo starting; exit 3'),
    cause: 'crash',
    sentence: /exit code 3\b/,
  },
  ends: { container: run('exit 0'), cause: 'exits-with-0', sentence: /exit code 0/ },
  memory: {
    container: run(`x=$(head -c 60000000 /dev/zero | tr '\\0' a); ${forever}`, 'resources: {limits: {memory: 20Mi}}'),
    cause: 'out-of-memory',
    sentence: /its limit of 20Mi/,
  },
  permission: {
    container: run('touch /etc/file || exit 1', 'securityContext: {runAsUser: 1000}'),
    cause: 'permission',
    sentence: /it lacks a permission/,
  },
  'read-only': {
    container: run('touch /file || exit 1', 'securityContext: {readOnlyRootFilesystem: true}'),
    cause: 'read-only',
    sentence: /file system that is read-only/,
  },
  dns: { container: run('nslookup no-such-service || exit 1'), cause: 'dns', sentence: /cannot be resolved/ },
  dependency: {
    container: run('nc 127.0.0.1 9 < /dev/null || exit 1'),
    cause: 'dependency',
    sentence: /does not answer/,
  },
  hook: {
    container: stays('lifecycle: {postStart: {exec: {command: [sh, -c, "exit 4"]}}}'),
    cause: 'hook',
    sentence: /the postStart hook of container main fails/,
  },
  'port-of-probe': {
    container: stays('ports: [{containerPort: 80}], readinessProbe: {periodSeconds: 1, httpGet: {port: 8080}}'),
    cause: 'wrong-port',
    sentence: /readiness probe of container main fails: .*connection refused/,
  },
  answer: {
    container: stays('readinessProbe: {periodSeconds: 1, exec: {command: [sh, -c, "echo not yet; exit 1"]}}'),
    cause: 'readiness-probe',
    sentence: /fails: not yet/,
  },
  early: {
    container: stays(
      'livenessProbe: {periodSeconds: 1, failureThreshold: 1, exec: {command: [sh, -c, "echo slow; exit 1"]}}',
    ),
    cause: 'liveness-probe',
    sentence: /liveness probe (of container main fails, and the kubelet restarts it|failed)/,
  },
  large: {
    container: stays('resources: {requests: {cpu: "5000"}}'),
    cause: 'resources',
    sentence: /too little cpu left/,
  },
  elsewhere: {
    container: stays(''),
    spec: 'nodeSelector: {disk: fast}',
    cause: 'node-selector',
    sentence: /no node has the labels/,
  },
  'no-claim': {
    container: stays(''),
    spec: 'volumes: [{name: v, persistentVolumeClaim: {claimName: absent}}]',
    cause: 'claim-missing',
    sentence: /the claim "absent", which a volume names, does not exist/,
  },
  'waiting-claim': {
    container: stays(''),
    spec: 'volumes: [{name: v, persistentVolumeClaim: {claimName: slow}}]',
    cause: 'claim-pending',
    sentence: /its claim "slow" of the class "absent" is not bound/,
  },
  deadline: { container: stays(''), spec: 'activeDeadlineSeconds: 1', cause: 'deadline', sentence: /DeadlineExceeded/ },
};

function pod(name: string, { container, spec = '' }: Row): string {
  const image = container.includes('image:') ? '' : `image: "${exampleImage}", `;
  const mounts = name === 'format' ? ', volumeMounts: [{name: v, mountPath: /v}]' : '';
  return (
    `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}, labels: {app: ${name}}}\nspec: {terminationGracePeriodSeconds: 0, ` +
    `${spec && `${spec}, `}containers: [{name: main, ${image}${container.replace(/, $/, '')}${mounts}}]}\n`
  );
}

const template = (label: string, container: string) =>
  `{metadata: {labels: {app: ${label}}}, spec: {terminationGracePeriodSeconds: 0, ` +
  `containers: [{name: main, image: "${exampleImage}", ${container}}]}}`;
const deployment = (name: string, container: string, namespace = 'default') =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ${name}, namespace: ${namespace}}\n` +
  `spec: {selector: {matchLabels: {app: ${name}}}, template: ${template(name, container)}}\n`;
const service = (name: string, selector: string, targetPort: string | number = 80) =>
  `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}}\n` +
  `spec: {selector: {app: ${selector}}, ports: [{port: 80, targetPort: ${targetPort}}]}\n`;
const notReady = 'readinessProbe: {periodSeconds: 1, exec: {command: [sh, -c, "echo database is away; exit 1"]}}';

function manifests(): string {
  return [
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: full}\n',
    'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: none, namespace: full}\nspec: {hard: {pods: 0}}\n',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n',
    'apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: slow}\n' +
      'spec: {storageClassName: absent, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}\n',
    ...Object.entries(PODS).map(([name, row]) => pod(name, row)),
    deployment('shop', stays(notReady)),
    deployment('limited', stays('env: []'), 'full'),
    deployment('well', stays('ports: [{name: http, containerPort: 80}]')),
    service('shop', 'shop'),
    service('nothing', 'shopp'),
    service('other-port', 'well', 'web'),
    service('well', 'well', 'http'),
  ].join('---\n');
}

const why = (word: string, ...more: string[]) => place.json<Explanation>('why', word, ...more);

/** Repeats `podwright why` until it finds the cause, since pods take time to fail. Returns its explanation. */
async function explained(word: string, cause: string | undefined, ...more: string[]): Promise<Explanation> {
  let last: Explanation | undefined;
  const isFound = async () => {
    last = await why(word, ...more);
    return last.finding?.cause === cause;
  };
  await place.until(isFound, 20_000).catch(() => assert.equal(last?.finding?.cause, cause, JSON.stringify(last)));
  return last!;
}

for (const [name, { cause, sentence }] of Object.entries(PODS)) {
  test(`the cause of pod ${name} is ${cause}`, async () => {
    const { finding, chain, isWell } = await explained(name, cause);
    assert.equal(isWell, false);
    assert.match(finding!.sentence, sentence);
    assert.equal(chain.length, 1);
    assert.equal(finding!.advice.length > 0, cause !== 'crash'); // the log of a crash says why
  });
}

test('a chain leads from the Service through its Deployment to the probe response', async () => {
  await explained('svc/shop', 'readiness-probe');
  const text = await place.ok('why', 'svc/shop');
  assert.match(text, /^Service default\/shop: has no ready endpoint: 0 of 1 pod ready$/m);
  assert.match(text, /^ {2}└ Deployment shop: 0 of 1 pods available/m);
  assert.match(text, /^ {4}└ ReplicaSet shop-\S+: 0 of 1 pod ready$/m);
  assert.match(text, /^ {6}└ Pod shop-\S+: the readiness probe of container main fails: database is away$/m);
  assert.match(text, /^what to do:\n {2}\S/m);
});

test('a quota, a selector without pods and a wrong target port are reported', async () => {
  const quota = await explained('deploy/limited', 'quota', '-n', 'full');
  assert.match(quota.finding!.sentence, /no pod can be created: the quota "none" of the namespace is used up/);
  const selector = await explained('svc/nothing', 'no-selected-pods');
  assert.match(selector.finding!.sentence, /no pod has the labels of its selector \(app=shopp\)/);
  assert.match((await explained('svc/other-port', 'wrong-target-port')).finding!.sentence, /target port web/);
  const well = await why('svc/well');
  assert.deepEqual([well.isWell, well.finding], [true, undefined]);
});

test('missing objects and unsupported kinds are rejected', async () => {
  await place.fails(/pods "absent" not found in the namespace "default"/, 'why', 'absent');
  await place.fails(/why explains pods, .*not nodes/, 'why', 'nodes/a');
});

test('the preceding change is reported', async () => {
  const changed = deployment('well', run('echo broken; exit 1', 'ports: [{name: http, containerPort: 80}]'));
  await place.ok('apply', place.file('changed.yaml', changed));
  const { change } = await explained('deploy/well', 'crash');
  assert.match(change!, /^revision 2, of \S+, changed command of container main$/);
});
