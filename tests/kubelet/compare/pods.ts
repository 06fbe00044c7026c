import { IMAGE, type Parts, STAY, showing } from './manifest-parts.ts';

/** Returns a pod with hostPath volumes, by volume name; each value is a path followed by a type. */
function hostPaths(volumes: Record<string, string>): Parts {
  const mounts = Object.keys(volumes).map((name) => `{name: ${name}, mountPath: /v/${name}}`);
  const sources = Object.entries(volumes).map(([name, source]) => {
    const [path, type] = source.split(' ');
    return `{name: ${name}, hostPath: {path: ${path}, type: ${type}}}`;
  });
  return {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, volumeMounts: [${mounts.join(', ')}] }`],
    spec: [`volumes: [${sources.join(', ')}]`],
  };
}

/** Returns a pod that prints the modes, owners and file systems of its volumes. */
function volumeModes(spec: string[]): Parts {
  const paths = '/e /m /d /d/..data /d/..data/ /d/..data/k /d/..data/k/n /d/k /d/l /d/..data/l';
  const script = `stat -c "%a %u:%g %F %n" ${paths}; grep -E " /[emd] " /proc/mounts | sed "s/^[^ ]* //"; df -k /m | tail -n 1 | tr -s " " | cut -d " " -f 2`;
  const mounts = ['e', 'm', 'd'].map((name) => `{name: ${name}, mountPath: /${name}}`);
  return {
    containers: [
      `{ name: main, ${IMAGE}, ${showing(script)}, resources: {limits: {memory: 64Mi}}, volumeMounts: [${mounts.join(', ')}] }`,
    ],
    spec: [
      'restartPolicy: Never',
      ...spec,
      'volumes:',
      '- {name: e, emptyDir: {}}',
      '- {name: m, emptyDir: {medium: Memory, sizeLimit: 128Mi}}',
      '- {name: d, downwardAPI: {defaultMode: 0400, items: [{path: k/n, mode: 0604, fieldRef: {fieldPath: metadata.namespace}}, {path: l, fieldRef: {fieldPath: metadata.labels}}]}}',
    ],
  };
}

/** Pods that cover every manifest field a kubelet acts on. */
export const PODS: Record<string, Parts> = {
  plain: { containers: [`{ name: main, ${IMAGE}, ${STAY} }`], meta: ['labels: {app: a}', 'annotations: {x: "y"}'] },
  two: { containers: [`{ name: a, ${IMAGE}, ${STAY} }`, `{ name: b, ${IMAGE}, ${STAY} }`] },
  guaranteed: { containers: [`{ name: main, ${IMAGE}, ${STAY}, resources: {limits: {cpu: 100m, memory: 64Mi}} }`] },
  burstable: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, resources: {requests: {cpu: 50m, memory: 32Mi}, limits: {memory: 64Mi}} }`,
    ],
  },
  burst2: {
    containers: [
      `{ name: a, ${IMAGE}, ${STAY}, resources: {requests: {cpu: 250m}} }`,
      `{ name: b, ${IMAGE}, ${STAY}, resources: {limits: {cpu: "1"}} }`,
    ],
  },
  huge: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, resources: {limits: {hugepages-2Mi: 0, memory: 10Mi, cpu: 10m}} }`],
  },
  done: { containers: [`{ name: main, ${IMAGE}, command: [sh, -c, 'exit 0'] }`], spec: ['restartPolicy: Never'] },
  fail3: {
    containers: [`{ name: main, ${IMAGE}, command: [sh, -c, 'echo bad; exit 3'] }`],
    spec: ['restartPolicy: Never'],
  },
  msgfile: {
    containers: [`{ name: main, ${IMAGE}, command: [sh, -c, 'echo why > /dev/termination-log; exit 1'] }`],
    spec: ['restartPolicy: Never'],
  },
  msglog: {
    containers: [
      `{ name: main, ${IMAGE}, command: [sh, -c, 'echo last words; exit 1'], terminationMessagePolicy: FallbackToLogsOnError }`,
    ],
    spec: ['restartPolicy: Never'],
  },
  msgpath: {
    containers: [
      `{ name: main, ${IMAGE}, command: [sh, -c, 'echo there > /tmp/msg; exit 2'], terminationMessagePath: /tmp/msg }`,
    ],
    spec: ['restartPolicy: Never'],
  },
  mixed: {
    containers: [
      `{ name: ok, ${IMAGE}, command: [sh, -c, 'exit 0'] }`,
      `{ name: bad, ${IMAGE}, command: [sh, -c, 'exit 1'] }`,
    ],
    spec: ['restartPolicy: Never'],
  },
  onfail: {
    containers: [`{ name: ok, ${IMAGE}, command: [sh, -c, 'exit 0'] }`, `{ name: run, ${IMAGE}, ${STAY} }`],
    spec: ['restartPolicy: OnFailure'],
  },
  init: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: [
      'initContainers:',
      `- { name: i1, ${IMAGE}, command: [sh, -c, 'true'] }`,
      `- { name: i2, ${IMAGE}, command: [sh, -c, 'true'] }`,
    ],
  },
  initfail: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: ['restartPolicy: Never', 'initContainers:', `- { name: i1, ${IMAGE}, command: [sh, -c, 'exit 4'] }`],
  },
  initwait: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: [
      'initContainers:',
      `- { name: i1, ${IMAGE}, ${STAY} }`,
      `- { name: i2, ${IMAGE}, command: [sh, -c, 'true'] }`,
    ],
  },
  sidecar: {
    containers: [`{ name: main, ${IMAGE}, command: [sh, -c, 'sleep 2; exit 0'] }`],
    spec: ['restartPolicy: Never', 'initContainers:', `- { name: side, ${IMAGE}, ${STAY}, restartPolicy: Always }`],
  },
  sidecar2: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: [
      'initContainers:',
      `- { name: s1, ${IMAGE}, ${STAY}, restartPolicy: Always }`,
      `- { name: i, ${IMAGE}, command: [sh, -c, 'true'] }`,
      `- { name: s2, ${IMAGE}, ${STAY}, restartPolicy: Always, startupProbe: {exec: {command: ["true"]}, periodSeconds: 1} }`,
    ],
  },
  noimage: { containers: ['{name: main, image: "localhost:1/none:1"}'] },
  noimagenever: { containers: ['{name: main, image: "localhost/none:1", imagePullPolicy: Never}'] },
  badimage: { containers: ['{name: main, image: "Bad//IMAGE::x"}'] },
  nocmd: {
    containers: [
      '{name: main, image: "localhost/podwright/busybox:1", imagePullPolicy: Never, command: [/does/not/exist]}',
    ],
    spec: ['restartPolicy: Never'],
  },
  notexec: {
    containers: [
      '{name: main, image: "localhost/podwright/busybox:1", imagePullPolicy: Never, command: [/etc/passwd]}',
    ],
    spec: ['restartPolicy: Never'],
  },
  workdir: { containers: [`{ name: main, ${IMAGE}, ${STAY}, workingDir: /tmp/new }`] },
  args: {
    containers: [
      '{name: main, image: "localhost/podwright/busybox:1", imagePullPolicy: Never, command: [sh, -c], args: ["echo $(A) $(B) $$(A); sleep 1000"], env: [{name: A, value: one}, {name: B, value: "$(A)-two"}]}',
    ],
  },
  envs: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: NS, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}, {name: UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}, {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}, {name: IPS, valueFrom: {fieldRef: {fieldPath: status.podIPs}}}, {name: HIP, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}, {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}, {name: SA, valueFrom: {fieldRef: {fieldPath: spec.serviceAccountName}}}, {name: L, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}}, {name: AN, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['x']"}}}] }`,
    ],
    meta: ['labels: {app: a}', 'annotations: {x: "y"}'],
  },
  resfield: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, resources: {requests: {cpu: 250m, memory: 32Mi}, limits: {memory: 64Mi}}, env: [{name: LC, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}, {name: LM, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}, {name: RC, valueFrom: {resourceFieldRef: {resource: requests.cpu, divisor: 1m}}}, {name: RM, valueFrom: {resourceFieldRef: {resource: requests.memory}}}, {name: RE, valueFrom: {resourceFieldRef: {resource: requests.ephemeral-storage}}}] }`,
    ],
  },
  resfieldno: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, env: [{name: LM, valueFrom: {resourceFieldRef: {resource: limits.memory}}}, {name: LC, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}, {name: LE, valueFrom: {resourceFieldRef: {resource: limits.ephemeral-storage}}}] }`,
    ],
  },
  hostnet: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, ports: [{containerPort: 18081}] }`],
    spec: ['hostNetwork: true'],
  },
  hostpid: { containers: [`{ name: main, ${IMAGE}, ${STAY} }`], spec: ['hostPID: true'] },
  hostipc: { containers: [`{ name: main, ${IMAGE}, ${STAY} }`], spec: ['hostIPC: true'] },
  sharepid: { containers: [`{ name: main, ${IMAGE}, ${STAY} }`], spec: ['shareProcessNamespace: true'] },
  ports: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, ports: [{containerPort: 80, hostPort: 18080, name: http}, {containerPort: 53, protocol: UDP, hostPort: 18053, hostIP: 127.0.0.1}, {containerPort: 90}] }`,
    ],
  },
  secctx: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, securityContext: {runAsUser: 1000, runAsGroup: 3000, capabilities: {add: [NET_ADMIN], drop: [ALL]}, readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, seccompProfile: {type: RuntimeDefault}} }`,
    ],
    spec: [
      'securityContext: {runAsNonRoot: true, supplementalGroups: [5, 6], fsGroup: 7, sysctls: [{name: net.ipv4.ip_unprivileged_port_start, value: "80"}]}',
    ],
  },
  priv: { containers: [`{ name: main, ${IMAGE}, ${STAY}, securityContext: {privileged: true} }`] },
  nonroot: { containers: [`{ name: main, ${IMAGE}, ${STAY} }`], spec: ['securityContext: {runAsNonRoot: true}'] },
  nonroot0: { containers: [`{ name: main, ${IMAGE}, ${STAY}, securityContext: {runAsUser: 0, runAsNonRoot: true} }`] },
  podsec: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: [
      'securityContext: {runAsUser: 12, runAsGroup: 13, seccompProfile: {type: Localhost, localhostProfile: no.json}}',
    ],
  },
  selinux: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, securityContext: {seLinuxOptions: {level: "s0:c1,c2"}} }`],
  },
  procmount: { containers: [`{ name: main, ${IMAGE}, ${STAY}, securityContext: {procMount: Default} }`] },
  sysctlslash: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: ['securityContext: {sysctls: [{name: net/ipv4/ip_unprivileged_port_start, value: "81"}]}'],
  },
  sysctlbad: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: ['securityContext: {sysctls: [{name: kernel.msgmax, value: "65536"}]}'],
  },
  hostname: { containers: [`{ name: main, ${IMAGE}, ${STAY} }`], spec: ['hostname: other', 'subdomain: sub'] },
  fqdn: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: ['hostname: other', 'subdomain: sub', 'setHostnameAsFQDN: true'],
  },
  aliases: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: ['hostAliases: [{ip: 10.9.9.9, hostnames: [a.b, c]}]'],
  },
  dns: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: [
      'dnsPolicy: None',
      'dnsConfig: {nameservers: [1.2.3.4], searches: [a.b], options: [{name: ndots, value: "3"}, {name: edns0}]}',
    ],
  },
  dnsdef: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: ['dnsPolicy: Default', 'dnsConfig: {searches: [x.y]}'],
  },
  empty: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, volumeMounts: [{name: e, mountPath: /e}, {name: e, mountPath: /f, subPath: sub, readOnly: true}, {name: m, mountPath: /m}] }`,
    ],
    spec: ['volumes: [{name: e, emptyDir: {}}, {name: m, emptyDir: {medium: Memory, sizeLimit: 1Mi}}]'],
  },
  hostpath: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, volumeMounts: [{name: h, mountPath: /h, mountPropagation: HostToContainer}, {name: f, mountPath: /f}] }`,
    ],
    spec: [
      'volumes: [{name: h, hostPath: {path: /tmp/oracle-h, type: DirectoryOrCreate}}, {name: f, hostPath: {path: /etc/hostname, type: File}}]',
    ],
  },
  hostbad: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, volumeMounts: [{name: h, mountPath: /h}] }`],
    spec: ['volumes: [{name: h, hostPath: {path: /no/such, type: Directory}}]'],
  },
  hostbads: hostPaths({
    file: '/proc File',
    fileorcreate: '/proc FileOrCreate',
    nofile: '/no/such/file FileOrCreate',
    nodir: '/etc/hostname/below DirectoryOrCreate',
    dir: '/etc/hostname Directory',
    dirorcreate: '/etc/hostname DirectoryOrCreate',
    socket: '/proc Socket',
    char: '/proc CharDevice',
    block: '/proc BlockDevice',
    absent: '/no/such BlockDevice',
  }),
  volmodes: volumeModes([]),
  volgroup: volumeModes(['securityContext: {fsGroup: 4321}']),
  volhuge: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, volumeMounts: [{name: h, mountPath: /h}] }`],
    spec: ['volumes: [{name: h, emptyDir: {medium: HugePages}}, {name: s, emptyDir: {medium: HugePages-2Mi}}]'],
  },
  volmedium: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, volumeMounts: [{name: h, mountPath: /h}] }`],
    spec: ['volumes: [{name: h, emptyDir: {medium: Tape}}]'],
  },
  volnfs: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, volumeMounts: [{name: h, mountPath: /h}] }`],
    spec: ['volumes: [{name: h, nfs: {server: 127.0.0.1, path: /no/such, readOnly: true}}]'],
  },
  volnested: {
    containers: [
      `{ name: main, ${IMAGE}, ${showing('find /d | sort; stat -c %a /d/in')}, volumeMounts: [{name: d, mountPath: /d}, {name: e, mountPath: /d/in/here}] }`,
    ],
    spec: [
      'restartPolicy: Never',
      'volumes: [{name: e, emptyDir: {}}, {name: d, downwardAPI: {items: [{path: a/name, fieldRef: {fieldPath: metadata.namespace}}]}}]',
    ],
  },
  volbidir: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, securityContext: {privileged: true}, volumeMounts: [{name: e, mountPath: /e, mountPropagation: Bidirectional}, {name: e, mountPath: /f, mountPropagation: HostToContainer}] }`,
    ],
    spec: ['volumes: [{name: e, emptyDir: {}}]'],
  },
  volsub: {
    containers: [
      `{ name: main, ${IMAGE}, ${showing('stat -c "%a %u:%g %F %n" /s /t; touch /t/x 2>&1')}, volumeMounts: [{name: e, mountPath: /s, subPath: a/b}, {name: e, mountPath: /t, subPath: a/b, readOnly: true}] }`,
    ],
    spec: ['restartPolicy: Never', 'volumes: [{name: e, emptyDir: {}}]'],
  },
  volsubbad: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, volumeMounts: [{name: e, mountPath: /s, subPath: hostname/below}] }`,
    ],
    spec: ['volumes: [{name: e, hostPath: {path: /etc}}]'],
  },
  downward: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, volumeMounts: [{name: d, mountPath: /d}] }`],
    spec: [
      'volumes: [{name: d, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}, {path: cpu, resourceFieldRef: {containerName: main, resource: limits.cpu}}]}}]',
    ],
    meta: ['labels: {app: a, b: c}'],
  },
  liveness: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, livenessProbe: {exec: {command: ["false"]}, periodSeconds: 1, failureThreshold: 2} }`,
    ],
    spec: ['terminationGracePeriodSeconds: 1', 'restartPolicy: Never'],
  },
  ready: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, readinessProbe: {exec: {command: ["true"]}, periodSeconds: 1} }`],
  },
  unready: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, readinessProbe: {exec: {command: [sh, -c, "echo no; exit 1"]}, periodSeconds: 1} }`,
    ],
  },
  startup: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, startupProbe: {exec: {command: ["false"]}, periodSeconds: 1, failureThreshold: 3} }`,
    ],
    spec: ['restartPolicy: Never', 'terminationGracePeriodSeconds: 1'],
  },
  startwait: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, startupProbe: {exec: {command: ["false"]}, periodSeconds: 10, failureThreshold: 30} }`,
    ],
  },
  tcp: { containers: [`{ name: main, ${IMAGE}, ${STAY}, readinessProbe: {tcpSocket: {port: 81}, periodSeconds: 1} }`] },
  http: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, readinessProbe: {httpGet: {port: 81, path: /x}, periodSeconds: 1} }`,
    ],
  },
  grpc: { containers: [`{ name: main, ${IMAGE}, ${STAY}, readinessProbe: {grpc: {port: 81}, periodSeconds: 1} }`] },
  probetmo: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, readinessProbe: {exec: {command: [sleep, "5"]}, periodSeconds: 2, timeoutSeconds: 1} }`,
    ],
  },
  probenone: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, readinessProbe: {exec: {command: [/no/such]}, periodSeconds: 1} }`],
  },
  poststart: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, lifecycle: {postStart: {exec: {command: [sh, -c, "echo secret; exit 7"]}}} }`,
    ],
    spec: ['restartPolicy: Never', 'terminationGracePeriodSeconds: 1'],
  },
  prestop: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, lifecycle: {preStop: {exec: {command: [sh, -c, "echo secret; exit 7"]}}} }`,
    ],
    spec: ['terminationGracePeriodSeconds: 3'],
  },
  prestopsleep: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, lifecycle: {preStop: {sleep: {seconds: 1}}} }`],
    spec: ['terminationGracePeriodSeconds: 3'],
  },
  stubborn: {
    containers: [`{ name: main, ${IMAGE}, command: [sh, -c, "trap '' TERM; while :; do sleep 0.2; done"] }`],
    spec: ['terminationGracePeriodSeconds: 2'],
  },
  grace0: { containers: [`{ name: main, ${IMAGE}, ${STAY} }`], spec: ['terminationGracePeriodSeconds: 0'] },
  deadline: { containers: [`{ name: main, ${IMAGE}, ${STAY} }`], spec: ['activeDeadlineSeconds: 3'] },
  gates: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: ['readinessGates: [{conditionType: example.com/x}]'],
  },
  selector: { containers: [`{ name: main, ${IMAGE}, ${STAY} }`], spec: ['nodeSelector: {no: such}'] },
  affinity: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: [
      'affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: no, operator: In, values: [such]}]}]}}}',
    ],
  },
  othernode: { containers: [`{ name: main, ${IMAGE}, ${STAY} }`], spec: ['nodeName: elsewhere'] },
  toobig: { containers: [`{ name: main, ${IMAGE}, ${STAY}, resources: {requests: {cpu: "500"}} }`] },
  toobigm: { containers: [`{ name: main, ${IMAGE}, ${STAY}, resources: {requests: {memory: 500Gi}} }`] },
  toobige: { containers: [`{ name: main, ${IMAGE}, ${STAY}, resources: {requests: {ephemeral-storage: 500Ti}} }`] },
  unknownres: { containers: [`{ name: main, ${IMAGE}, ${STAY}, resources: {limits: {example.com/gpu: 1}} }`] },
  portclash1: { containers: [`{ name: main, ${IMAGE}, ${STAY}, ports: [{containerPort: 80, hostPort: 18090}] }`] },
  portclash2: { containers: [`{ name: main, ${IMAGE}, ${STAY}, ports: [{containerPort: 80, hostPort: 18090}] }`] },
  tolerate: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: ['tolerations: [{key: a, operator: Exists}]', 'priorityClassName: system-node-critical'],
  },
  crash: { containers: [`{ name: main, ${IMAGE}, command: [sh, -c, 'exit 1'] }`] },
  crashok: { containers: [`{ name: main, ${IMAGE}, command: [sh, -c, 'exit 0'] }`] },
  oom: {
    containers: [
      `{ name: main, ${IMAGE}, command: [sh, -c, 'x=a; while :; do x=$x$x; done'], resources: {limits: {memory: 16Mi}} }`,
    ],
    spec: ['restartPolicy: Never'],
  },
  killed: { containers: [`{ name: main, ${IMAGE}, command: [sh, -c, 'kill -9 $$'] }`], spec: ['restartPolicy: Never'] },
  stdin: { containers: [`{ name: main, ${IMAGE}, stdin: true, tty: true, command: [sh] }`] },
  stopsig: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, lifecycle: {stopSignal: SIGUSR1} }`],
    spec: ['os: {name: linux}'],
  },
  windows: { containers: [`{ name: main, ${IMAGE}, ${STAY} }`], spec: ['os: {name: windows}'] },
  podres: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: ['resources: {limits: {cpu: 200m, memory: 100Mi}}'],
  },
  rule: {
    containers: [
      `{ name: main, ${IMAGE}, command: [sh, -c, 'exit 42'], restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}] }`,
    ],
    spec: ['restartPolicy: Never'],
  },
  crule: {
    containers: [
      `{ name: main, ${IMAGE}, command: [sh, -c, 'exit 1'], restartPolicy: Never }`,
      `{ name: b, ${IMAGE}, ${STAY} }`,
    ],
  },
  resize: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}], resources: {limits: {cpu: 100m, memory: 64Mi}} }`,
    ],
  },
  rro: {
    containers: [
      `{ name: main, ${IMAGE}, ${STAY}, volumeMounts: [{name: e, mountPath: /e, readOnly: true, recursiveReadOnly: IfPossible}] }`,
    ],
    spec: ['volumes: [{name: e, emptyDir: {}}]'],
  },
  userns: { containers: [`{ name: main, ${IMAGE}, ${STAY} }`], spec: ['hostUsers: false'] },
  imgvol: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, volumeMounts: [{name: e, mountPath: /e}] }`],
    spec: ['volumes: [{name: e, image: {reference: "localhost/podwright/busybox:1", pullPolicy: IfNotPresent}}]'],
  },
  apparmor: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, securityContext: {appArmorProfile: {type: Unconfined}} }`],
  },
  suppstrict: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: ['securityContext: {supplementalGroupsPolicy: Strict}'],
  },
  schedgate: { containers: [`{ name: main, ${IMAGE}, ${STAY} }`], spec: ['schedulingGates: [{name: a/b}]'] },
  ctrlenv: { containers: [`{ name: main, ${IMAGE}, ${STAY}, env: [{name: "a.b-c", value: x}] }`] },
  podlevel: {
    containers: [
      `{ name: a, ${IMAGE}, ${STAY}, resources: {requests: {cpu: 100m, memory: 32Mi}} }`,
      `{ name: b, ${IMAGE}, ${STAY}, resources: {limits: {cpu: 200m}} }`,
      `{ name: c, ${IMAGE}, ${STAY}, env: [{name: LC, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}, {name: LM, valueFrom: {resourceFieldRef: {resource: limits.memory}}}, {name: RC, valueFrom: {resourceFieldRef: {resource: requests.cpu}}}] }`,
    ],
    spec: ['resources: {requests: {memory: 200Mi}, limits: {cpu: "1", memory: 256Mi}}'],
  },
  podlevelg: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: ['resources: {limits: {cpu: 500m, memory: 128Mi}}'],
  },
  podlevelempty: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, resources: {requests: {cpu: 100m}} }`],
    spec: ['resources: {}'],
  },
  podlevelbad: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, resources: {requests: {cpu: "2"}} }`],
    spec: ['resources: {requests: {cpu: "1"}}'],
  },
  podlevelbig: { containers: [`{ name: main, ${IMAGE}, ${STAY} }`], spec: ['resources: {requests: {cpu: "500"}}'] },
  sidecaroom: {
    containers: [
      `{ name: a, ${IMAGE}, ${STAY}, resources: {requests: {memory: 1Gi}} }`,
      `{ name: b, ${IMAGE}, ${STAY}, resources: {requests: {memory: 128Mi}} }`,
    ],
    spec: [
      `initContainers: [{ name: s, ${IMAGE}, ${STAY}, restartPolicy: Always, resources: {requests: {memory: 16Mi}} }, { name: t, ${IMAGE}, ${STAY}, restartPolicy: Always, resources: {requests: {memory: 512Mi}} }]`,
    ],
  },
  initpeak: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, resources: {limits: {cpu: 100m, memory: 32Mi}} }`],
    spec: [
      `initContainers: [{ name: i, ${IMAGE}, command: ['true'], resources: {limits: {cpu: 300m, memory: 64Mi}} }]`,
    ],
  },
  dupe: { containers: [`{ name: main, ${IMAGE}, ${STAY}, env: [{name: A, value: x}, {name: A, value: y}] }`] },
};
