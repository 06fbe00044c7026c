import { decodeManifest, type PlacedObject, type Pod } from '@podwright/kube-api';
import { identifyPod } from '@podwright/pod-config';

const MANIFESTS = {
  server: `
spec:
  containers:
  - {name: main, image: 'a:1', readinessProbe: {tcpSocket: {port: 80}}, livenessProbe: {tcpSocket: {port: 80}}}
`,
  two: `
spec:
  terminationGracePeriodSeconds: 5
  initContainers: [{name: setup, image: 'a:1'}]
  containers:
  - {name: main, image: 'a:1', lifecycle: {preStop: {exec: {command: [bye]}}, postStart: {exec: {command: [hi]}}}}
  - {name: other, image: 'b:1', startupProbe: {tcpSocket: {port: 80}}}
`,
  job: `
spec:
  restartPolicy: Never
  containers: [{name: main, image: 'a:1'}, {name: other, image: 'b:1'}]
`,
  task: `
spec:
  restartPolicy: OnFailure
  initContainers: [{name: setup, image: 'a:1'}]
  containers: [{name: main, image: 'b:1'}]
`,
  sidecar: `
spec:
  initContainers: [{name: proxy, image: 'a:1', restartPolicy: Always}, {name: setup, image: 'b:1'}]
  containers: [{name: main, image: 'a:1', readinessProbe: {tcpSocket: {port: 80}}}]
`,
  sidecarJob: `
spec:
  restartPolicy: Never
  initContainers: [{name: proxy, image: 'a:1', restartPolicy: Always}]
  containers: [{name: main, image: 'b:1'}]
`,
  limited: `
spec:
  restartPolicy: Never
  activeDeadlineSeconds: 40
  initContainers: [{name: setup, image: 'a:1'}]
  containers: [{name: main, image: 'b:1'}]
`,
};

export type PodShape = keyof typeof MANIFESTS;

export const POD_SHAPES = Object.keys(MANIFESTS) as PodShape[];

export type PodRequest = {
  name: string;
  shape: PodShape;
  /** Different versions of a pod have different values of an environment variable. */
  version: number;
  /** Whether the manifest has a UID. If so, a version change updates the pod; otherwise, it replaces the pod. */
  ownUid: boolean;
};

/**
 * A desired pod. `placed`: the pod as it is in the kubelet's pod source. `pod`: the pod with the identity that the kubelet assigns to it.
 */
export type DesiredPod = { placed: PlacedObject; pod: Pod };

/** Creates pods. Equal requests share one pod. */
export class PodMaker {
  readonly #made = new Map<string, DesiredPod>();
  readonly #decoded = new Map<PodShape, Pod>();

  make(request: PodRequest): DesiredPod {
    const key = Object.values(request).join();
    const made = this.#made.get(key) ?? this.#new(request);
    this.#made.set(key, made);
    return made;
  }

  #new({ name, shape, version, ownUid }: PodRequest): DesiredPod {
    const object = structuredClone(this.#decoded.get(shape) ?? this.#decode(shape));
    object.metadata.name = name;
    object.metadata.uid = ownUid ? `uid-of-${name}-${shape}` : '';
    for (const container of object.spec.containers) container.env = [{ name: 'VERSION', value: String(version) }];
    const placed = { object, file: `${name}.yaml`, line: 1, column: 1 };
    return { placed, pod: identifyPod(placed, { source: 'file', nodeName: 'node', seenAtMs: 0 }) };
  }

  #decode(shape: PodShape): Pod {
    const text = `apiVersion: v1\nkind: Pod\nmetadata: {name: any}${MANIFESTS[shape]}`;
    const { pods, errors } = decodeManifest(text, { file: 'pod.yaml' });
    if (pods[0] === undefined) throw new Error(errors.join('\n'));
    this.#decoded.set(shape, pods[0]);
    return pods[0];
  }
}
