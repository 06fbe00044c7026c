/** Pods modeled on Kubernetes' own node e2e tests: how containers see their pod's fields. */
import { IMAGE, type Parts, STAY, shell, showing } from './manifest-parts.ts';

const one = (container: string, spec: string[] = [], meta: string[] = []): Parts => ({
  containers: [`{ name: main, ${IMAGE}, ${container} }`],
  spec: ['restartPolicy: Never', ...spec],
  meta,
});
const stays = (container: string, spec: string[] = []): Parts => ({
  containers: [`{ name: main, ${IMAGE}, ${STAY}${container === '' ? '' : `, ${container}`} }`],
  spec,
});
const LABELS = ['labels: {app: a, "example.com/tier": front}', 'annotations: {x: "y", multi: "a\\nb\\"c"}'];
const field = (path: string) => `fieldRef: {fieldPath: ${JSON.stringify(path)}}`;
const FIELDS = ['metadata.name', 'metadata.namespace', 'metadata.uid', "metadata.labels['app']"];
const amounts = ['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => [`limits.${name}`, `requests.${name}`]);

/** Returns a shell command that prints this many bytes, for use as a termination message. */
const message = (bytes: number) => `head -c ${bytes} /dev/zero | tr "\\\\0" x`;

/** Returns environment variables that each refer to the previous one, except for every hundredth. */
const chained = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const value = index % 100 === 0 ? 'x' : `$(V${index - 1})x`;
    return `{name: V${index}, value: "${value}"}`;
  }).join(', ');

export const FIELD_PODS: Record<string, Parts> = {
  dwfiles: one(
    `${showing('cd /d; for f in *; do echo "$f=$(cat $f)"; done; stat -c "%a %n" ..data/*')}, resources: {limits: {cpu: 300m, memory: 32Mi, ephemeral-storage: 1Gi}, requests: {cpu: 150m}}, volumeMounts: [{name: d, mountPath: /d}]`,
    [
      `volumes: [{name: d, downwardAPI: {defaultMode: 0640, items: [${[
        ...[...FIELDS, 'metadata.labels', 'metadata.annotations', "metadata.annotations['multi']"].map(
          (path, index) => `{path: f${index}, ${field(path)}}`,
        ),
        ...amounts.map(
          (resource, index) => `{path: r${index}, resourceFieldRef: {containerName: main, resource: ${resource}}}`,
        ),
        '{path: div, mode: 0400, resourceFieldRef: {containerName: main, resource: limits.cpu, divisor: 1m}}',
      ].join(', ')}]}}]`,
    ],
    LABELS,
  ),
  expand: one(
    `command: [sh, -c, 'echo "$0 $1 $2 $3" > /dev/termination-log', $(A), $$(A), $(NO), "$(B"], env: [{name: A, value: one}, {name: B, value: "$(A)$(C)$$(A)$(D"}, {name: C, value: "$(B)"}, {name: "1x", value: "$(1x)"}]`,
  ),
  subexpr: one(
    `${showing('stat -c "%a %u:%g %n" /s /t; ls -d /e/*/*')}, env: [{name: POD, valueFrom: {${field('metadata.namespace')}}}, {name: L, value: "x/y"}], volumeMounts: [{name: e, mountPath: /e}, {name: e, mountPath: /s, subPathExpr: "$(POD)/a"}, {name: e, mountPath: /t, subPathExpr: "$(L)$$(L)"}]`,
    ['volumes: [{name: e, emptyDir: {}}]'],
  ),
  subexprno: stays('volumeMounts: [{name: e, mountPath: /s, subPathExpr: "$(NO)/a"}]', [
    'volumes: [{name: e, emptyDir: {}}]',
  ]),
  subexprback: stays('env: [{name: B, value: ".."}], volumeMounts: [{name: e, mountPath: /s, subPathExpr: "$(B)"}]', [
    'volumes: [{name: e, emptyDir: {}}]',
  ]),
  subexprabs: stays('env: [{name: B, value: "/etc"}], volumeMounts: [{name: e, mountPath: /s, subPathExpr: "$(B)"}]', [
    'volumes: [{name: e, emptyDir: {}}]',
  ]),
  subexprempty: stays(
    'env: [{name: B, value: ""}], volumeMounts: [{name: e, mountPath: /s, subPathExpr: "$(B)$(NO)$(B)"}]',
    ['volumes: [{name: e, emptyDir: {}}]'],
  ),
  subhost: one(`${showing('wc -l < /one')}, volumeMounts: [{name: h, mountPath: /one, subPath: hostname}]`, [
    'volumes: [{name: h, hostPath: {path: /etc}}]',
  ]),
  ids: one(
    `${showing('id; touch /e/f && stat -c "%u:%g %a" /e /e/f /m; grep -E "Cap(Eff|Bnd)|NoNewPrivs|Seccomp:" /proc/self/status')}, securityContext: {runAsUser: 1001, runAsGroup: 2002}, volumeMounts: [{name: e, mountPath: /e}, {name: m, mountPath: /m}]`,
    [
      'securityContext: {runAsUser: 1, fsGroup: 3003, supplementalGroups: [4004, 5005]}',
      'volumes: [{name: e, emptyDir: {}}, {name: m, emptyDir: {medium: Memory}}]',
    ],
  ),
  idsmerge: one(showing('id'), [
    'securityContext: {runAsUser: 1000, supplementalGroups: [7], supplementalGroupsPolicy: Merge}',
  ]),
  idsgrouponly: one(`${showing('id')}, securityContext: {runAsGroup: 9}`, ['securityContext: {runAsUser: 8}']),
  fsonroot: one(`${showing('stat -c "%u:%g %a" /e')}, volumeMounts: [{name: e, mountPath: /e}]`, [
    'securityContext: {fsGroup: 12, fsGroupChangePolicy: OnRootMismatch}',
    'volumes: [{name: e, emptyDir: {}}]',
  ]),
  sysctls: one(showing('cat /proc/sys/kernel/shm_rmid_forced /proc/sys/net/ipv4/ping_group_range'), [
    'securityContext: {sysctls: [{name: kernel.shm_rmid_forced, value: "1"}, {name: net.ipv4.ping_group_range, value: "1 100"}]}',
  ]),
  sysctlnet: stays('', [
    'hostNetwork: true',
    'securityContext: {sysctls: [{name: net.ipv4.tcp_syncookies, value: "1"}]}',
  ]),
  sysctlipc: stays('', ['hostIPC: true', 'securityContext: {sysctls: [{name: kernel.shm_rmid_forced, value: "1"}]}']),
  hostall: one(
    showing('readlink /proc/1/ns/net | wc -l; hostname | wc -l; wc -l < /etc/hosts > /dev/null && echo ok'),
    ['hostNetwork: true', 'hostPID: true', 'hostIPC: true'],
  ),
  sharedpids: {
    containers: [
      `{ name: main, ${IMAGE}, ${shell("sleep 3; ps | grep -c '[s]leep 1000' > /dev/termination-log")} }`,
      `{ name: b, ${IMAGE}, ${shell('sleep 1000')} }`,
    ],
    spec: ['shareProcessNamespace: true', 'restartPolicy: Never', 'activeDeadlineSeconds: 20'],
  },
  msgbig: one(showing(message(9000))),
  msgbiglog: one(`${shell(`${message(9000)}; exit 1`)}, terminationMessagePolicy: FallbackToLogsOnError`),
  msglines: one(
    `${shell('for i in $(seq 1 200); do echo line $i; done; exit 1')}, terminationMessagePolicy: FallbackToLogsOnError`,
  ),
  msgokfallback: one(`${shell('echo quiet; exit 0')}, terminationMessagePolicy: FallbackToLogsOnError`),
  msgboth: one(
    `${shell('echo log; echo file > /dev/termination-log; exit 1')}, terminationMessagePolicy: FallbackToLogsOnError`,
  ),
  msgbytes: one(shell("printf 'a\\377b\\000c\\n' > /dev/termination-log; exit 1")),
  msgmany: {
    containers: ['a', 'b', 'c', 'd'].map((name) => `{ name: ${name}, ${IMAGE}, ${showing(message(4096))} }`),
    spec: ['restartPolicy: Never'],
  },
  msgrelative: one(`${shell('echo here > /msg/end; exit 1')}, terminationMessagePath: "msg//end"`),
  msgdir: one(`${shell('exit 1')}, terminationMessagePath: /tmp`),
  sigterm: one(shell('kill -TERM $$; sleep 1')),
  sigsegv: one(shell('kill -SEGV $$')),
  exit255: one(shell('exit 255')),
  dnscluster: one(showing('grep -c . /etc/resolv.conf'), [
    'dnsConfig: {nameservers: [9.9.9.9], searches: [example.com], options: [{name: ndots, value: "2"}, {name: ndots, value: "3"}, {name: rotate}]}',
  ]),
  dnshostnet: one(showing('grep -c . /etc/resolv.conf'), ['hostNetwork: true', 'dnsPolicy: ClusterFirstWithHostNet']),
  dnsmany: stays('', [
    `dnsPolicy: None`,
    `dnsConfig: {nameservers: [1.1.1.1, 1.1.1.2, 1.1.1.3], searches: [${Array.from({ length: 32 }, (_, i) => `s${i}.example.com`).join(', ')}]}`,
  ]),
  hosts: one(showing('tail -n +2 /etc/hosts | tr "\\t" " " | grep -v fe00 | sed "s/^10[.][0-9.]*/IP/"'), [
    'hostname: named',
    'subdomain: below',
    'hostAliases: [{ip: 10.9.9.9, hostnames: [a.b, c]}, {ip: "fd00::9", hostnames: [d]}]',
  ]),
  hostsnet: one(showing('tail -n 3 /etc/hosts'), [
    'hostNetwork: true',
    'hostAliases: [{ip: 10.9.9.9, hostnames: [a.b]}]',
  ]),
  hostover: one(showing('hostname'), ['hostnameOverride: over.example.com']),
  podhostname: one(showing('hostname; hostname -f'), ['hostname: h1']),
  emptylimit: stays(
    `lifecycle: {postStart: {exec: {command: [dd, if=/dev/zero, of=/e/f, bs=1M, count=5]}}}, volumeMounts: [{name: e, mountPath: /e}]`,
    ['volumes: [{name: e, emptyDir: {sizeLimit: 1Mi}}]'],
  ),
  ephlimit: stays(
    `lifecycle: {postStart: {exec: {command: [dd, if=/dev/zero, of=/f, bs=1M, count=5]}}}, resources: {limits: {ephemeral-storage: 1Mi}}`,
  ),
  hugeenv: one(`${showing('env | grep -c ^V; echo $V1999')}, env: [${chained(2000)}]`),
  toobigenv: one(`${shell('exit 0')}, env: [{name: A, value: "${'x'.repeat(200_000)}"}]`),
  device: one(
    `${showing('stat -c %F /dev/thing')}, securityContext: {privileged: true}, volumeMounts: [{name: d, mountPath: /dev/thing}]`,
    ['volumes: [{name: d, hostPath: {path: /dev/null, type: CharDevice}}]'],
  ),
  seccomppod: one(showing('grep Seccomp: /proc/self/status'), [
    'securityContext: {seccompProfile: {type: RuntimeDefault}}',
  ]),
  seccompmissing: stays('securityContext: {seccompProfile: {type: Localhost, localhostProfile: profiles/none.json}}'),
  aamissing: stays('securityContext: {appArmorProfile: {type: Localhost, localhostProfile: none}}'),
  aadefault: stays('', ['securityContext: {appArmorProfile: {type: RuntimeDefault}}']),
  claims: stays('resources: {claims: [{name: c}]}', ['resourceClaims: [{name: c, resourceClaimName: thing}]']),
  caps: one(
    `${showing('grep CapBnd /proc/self/status')}, securityContext: {capabilities: {drop: [ALL], add: [CAP_CHOWN, NET_BIND_SERVICE, KILL]}}`,
  ),
  nonewprivs: one(
    `${showing('grep NoNewPrivs /proc/self/status')}, securityContext: {allowPrivilegeEscalation: false}`,
  ),
  rofs: one(
    `${showing('touch /x; touch /e/x && echo wrote')}, securityContext: {readOnlyRootFilesystem: true}, volumeMounts: [{name: e, mountPath: /e}]`,
    ['volumes: [{name: e, emptyDir: {}}]'],
  ),
  privdev: one(`${showing('ls /dev/kmsg; grep CapEff /proc/self/status')}, securityContext: {privileged: true}`),
  unmasked: stays('securityContext: {procMount: Unmasked}', ['hostUsers: false']),
  wdvar: one(`${showing('pwd')}, workingDir: /tmp/a/../b`),
  mountro: one(
    `${showing('touch /e/x; grep " /e " /proc/mounts | cut -d " " -f 4 | cut -d , -f 1')}, volumeMounts: [{name: e, mountPath: /e, readOnly: true}]`,
    ['volumes: [{name: e, emptyDir: {}}]'],
  ),
  mountabove: one(
    `${showing('ls /a; ls /a/b')}, volumeMounts: [{name: f, mountPath: /a/b}, {name: e, mountPath: /a}]`,
    ['volumes: [{name: e, emptyDir: {}}, {name: f, emptyDir: {}}]'],
  ),
  filekey: {
    containers: [
      `{ name: main, ${IMAGE}, ${showing('echo "$A|$B"')}, env: [{name: A, valueFrom: {fileKeyRef: {volumeName: e, path: env/f, key: A}}}, {name: B, valueFrom: {fileKeyRef: {volumeName: e, path: env/f, key: B, optional: true}}}] }`,
    ],
    spec: [
      'restartPolicy: Never',
      `initContainers: [{ name: i, ${IMAGE}, ${shell('mkdir -p /e/env; printf \'A=\\"one two\\"\\n#c\\n\' > /e/env/f')}, volumeMounts: [{name: e, mountPath: /e}] }]`,
      'volumes: [{name: e, emptyDir: {}}]',
    ],
  },
  sched: stays('', [
    'schedulerName: mine',
    'priority: 5',
    'preemptionPolicy: Never',
    'enableServiceLinks: false',
    'automountServiceAccountToken: false',
    'topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]',
  ]),
  podlevelhuge: stays('resources: {limits: {hugepages-2Mi: 0}}', [
    'resources: {limits: {cpu: 500m, memory: 64Mi, hugepages-2Mi: 0}}',
  ]),
  podlevelside: {
    containers: [`{ name: main, ${IMAGE}, ${STAY}, resources: {requests: {cpu: 50m}} }`],
    spec: [
      'resources: {requests: {cpu: 300m}, limits: {cpu: 600m, memory: 100Mi}}',
      `initContainers: [{ name: s, ${IMAGE}, ${STAY}, restartPolicy: Always, resources: {requests: {cpu: 100m}, limits: {cpu: 200m}} }]`,
    ],
  },
  stdinonce: one(`${shell('cat; echo end')}, stdin: true, stdinOnce: true`),
  empties: stays('env: [], args: [], ports: [], resources: {limits: {}, requests: {}}, volumeMounts: []', [
    'nodeSelector: {}',
    'tolerations: []',
    'hostAliases: []',
    'volumes: [{name: d, downwardAPI: {items: []}}]',
    'securityContext: {supplementalGroups: [], sysctls: []}',
  ]),
  untagged: { containers: ['{ name: main, image: localhost/podwright/busybox, imagePullPolicy: Never }'] },
};

const bad = (container: string, spec: string[] = [], meta: string[] = []): Parts => ({
  containers: [`{ name: main, ${IMAGE}, ${STAY}${container === '' ? '' : `, ${container}`} }`],
  spec,
  meta,
});

/** Pod manifests that a kubelet rejects, most of them because of a single error. */
export const BAD_PODS: Record<string, Parts> = {
  noimg: { containers: ['{ name: main }'] },
  dupname: { containers: [`{ name: main, ${IMAGE}, ${STAY} }`, `{ name: main, ${IMAGE}, ${STAY} }`] },
  dupinit: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: [`initContainers: [{ name: main, ${IMAGE}, ${STAY} }]`],
  },
  badcname: { containers: [`{ name: Main, ${IMAGE}, ${STAY} }`] },
  badpolicy: bad('', ['restartPolicy: Sometimes']),
  badpull: { containers: ['{ name: main, image: a, imagePullPolicy: Never2 }'] },
  neggrace: bad('', ['terminationGracePeriodSeconds: -1']),
  negdeadline: bad('', ['activeDeadlineSeconds: 0']),
  livesuccess: bad('livenessProbe: {exec: {command: ["true"]}, successThreshold: 2}'),
  probetwo: bad('livenessProbe: {exec: {command: ["true"]}, tcpSocket: {port: 1}}'),
  probenothing: bad('livenessProbe: {periodSeconds: 1}'),
  probeneg: bad('livenessProbe: {exec: {command: ["true"]}, periodSeconds: -1}'),
  probeport: bad('livenessProbe: {tcpSocket: {port: 70000}}'),
  probenamed: bad('livenessProbe: {tcpSocket: {port: nope}}'),
  readygrace: bad('readinessProbe: {exec: {command: ["true"]}, terminationGracePeriodSeconds: 5}'),
  initready: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: [`initContainers: [{ name: i, ${IMAGE}, ${STAY}, readinessProbe: {exec: {command: ["true"]}} }]`],
  },
  initlife: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: [`initContainers: [{ name: i, ${IMAGE}, ${STAY}, lifecycle: {postStart: {exec: {command: ["true"]}}} }]`],
  },
  hooktwo: bad('lifecycle: {preStop: {exec: {command: ["true"]}, sleep: {seconds: 1}}}'),
  hooktcp: bad('lifecycle: {preStop: {tcpSocket: {port: 80}}}'),
  hooksleep: bad('lifecycle: {preStop: {sleep: {seconds: 40}}}'),
  hooknone: bad('lifecycle: {preStop: {}}'),
  stopnoos: bad('lifecycle: {stopSignal: SIGUSR1}'),
  dupport: bad('ports: [{containerPort: 80, hostPort: 18070}, {containerPort: 81, hostPort: 18070}]'),
  dupportname: bad('ports: [{containerPort: 80, name: a}, {containerPort: 81, name: a}]'),
  badportname: bad('ports: [{containerPort: 80, name: "80"}]'),
  badproto: bad('ports: [{containerPort: 80, protocol: XYZ}]'),
  hostnetport: bad('ports: [{containerPort: 80, hostPort: 81}]', ['hostNetwork: true']),
  badenv: bad('env: [{name: "A=B", value: x}]'),
  emptyenv: bad('env: [{name: "", value: x}]'),
  envboth: bad('env: [{name: A, value: x, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]'),
  envfield: bad('env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.nope}}}]'),
  envlabels: bad('env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.labels}}}]'),
  envdiv: bad('env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1Ki}}}]'),
  dwenvfield: bad('volumeMounts: [{name: d, mountPath: /d}]', [
    'volumes: [{name: d, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: status.podIP}}]}}]',
  ]),
  dwback: bad('', ['volumes: [{name: d, downwardAPI: {items: [{path: ../a, fieldRef: {fieldPath: metadata.name}}]}}]']),
  dwmode: bad('', [
    'volumes: [{name: d, downwardAPI: {defaultMode: 01777, items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}}]',
  ]),
  nomount: bad('volumeMounts: [{name: none, mountPath: /e}]'),
  dupmount: bad('volumeMounts: [{name: e, mountPath: /e}, {name: f, mountPath: /e}]', [
    'volumes: [{name: e, emptyDir: {}}, {name: f, emptyDir: {}}]',
  ]),
  dupvol: bad('', ['volumes: [{name: e, emptyDir: {}}, {name: e, emptyDir: {}}]']),
  twosource: bad('', ['volumes: [{name: e, emptyDir: {}, hostPath: {path: /tmp}}]']),
  nosource: bad('volumeMounts: [{name: e, mountPath: /e}]', ['volumes: [{name: e}]']),
  subback: bad('volumeMounts: [{name: e, mountPath: /e, subPath: ../x}]', ['volumes: [{name: e, emptyDir: {}}]']),
  subabs: bad('volumeMounts: [{name: e, mountPath: /e, subPath: /x}]', ['volumes: [{name: e, emptyDir: {}}]']),
  subboth: bad('volumeMounts: [{name: e, mountPath: /e, subPath: x, subPathExpr: y}]', [
    'volumes: [{name: e, emptyDir: {}}]',
  ]),
  relmount: bad('volumeMounts: [{name: e, mountPath: e}]', ['volumes: [{name: e, emptyDir: {}}]']),
  colonmount: bad('volumeMounts: [{name: e, mountPath: "/e:f"}]', ['volumes: [{name: e, emptyDir: {}}]']),
  bidinopriv: bad('volumeMounts: [{name: e, mountPath: /e, mountPropagation: Bidirectional}]', [
    'volumes: [{name: e, emptyDir: {}}]',
  ]),
  rronoro: bad('volumeMounts: [{name: e, mountPath: /e, recursiveReadOnly: Enabled}]', [
    'volumes: [{name: e, emptyDir: {}}]',
  ]),
  hostback: bad('', ['volumes: [{name: h, hostPath: {path: /tmp/../etc}}]']),
  reqlimit: bad('resources: {requests: {cpu: 2}, limits: {cpu: 1}}'),
  negres: bad('resources: {requests: {cpu: -1}}'),
  hugeover: bad('resources: {requests: {hugepages-2Mi: 2Mi}, limits: {hugepages-2Mi: 4Mi}}'),
  fracmem: bad('resources: {requests: {memory: 100m}}'),
  subcpu: bad('resources: {requests: {cpu: 0.1m}}'),
  badres: bad('resources: {requests: {storage: 1Gi}}'),
  privesc: bad('securityContext: {privileged: true, allowPrivilegeEscalation: false}'),
  sysadmin: bad('securityContext: {capabilities: {add: [SYS_ADMIN]}, allowPrivilegeEscalation: false}'),
  neguser: bad('securityContext: {runAsUser: -1}'),
  secloc: bad('securityContext: {seccompProfile: {type: Localhost}}'),
  secback: bad('securityContext: {seccompProfile: {type: Localhost, localhostProfile: ../x}}'),
  secname: bad('securityContext: {seccompProfile: {type: RuntimeDefault, localhostProfile: x}}'),
  badsysctl: bad('', ['securityContext: {sysctls: [{name: "a..b", value: "1"}]}']),
  dupsysctl: bad('', [
    'securityContext: {sysctls: [{name: kernel.shm_rmid_forced, value: "1"}, {name: kernel.shm_rmid_forced, value: "0"}]}',
  ]),
  procnouser: bad('securityContext: {procMount: Unmasked}'),
  hostpidshare: bad('', ['hostPID: true', 'shareProcessNamespace: true']),
  usernshost: bad('', ['hostUsers: false', 'hostNetwork: true']),
  dnsnone: bad('', ['dnsPolicy: None']),
  dnspolicy: bad('', ['dnsPolicy: Nope']),
  dnstoomany: bad('', ['dnsPolicy: None', 'dnsConfig: {nameservers: [1.1.1.1, 1.1.1.2, 1.1.1.3, 1.1.1.4]}']),
  dnsaddr: bad('', ['dnsPolicy: None', 'dnsConfig: {nameservers: [example.com]}']),
  aliasip: bad('', ['hostAliases: [{ip: nope, hostnames: [a]}]']),
  badhost: bad('', ['hostname: Bad_Host']),
  overbad: bad('', ['hostnameOverride: Bad_Host']),
  overnet: bad('', ['hostNetwork: true', 'hostnameOverride: a']),
  windowsopt: bad('securityContext: {windowsOptions: {runAsUserName: a}}', ['os: {name: linux}']),
  sidecarnever: {
    containers: [`{ name: main, ${IMAGE}, ${STAY} }`],
    spec: [`initContainers: [{ name: s, ${IMAGE}, ${STAY}, restartPolicy: Nope }]`],
  },
  rulesnopolicy: bad('restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]'),
  rulesop: bad(
    'restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: Exists, values: [42]}}]',
  ),
  rulesempty: bad(
    'restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: []}}]',
  ),
  rulesaction: bad(
    'restartPolicy: Never, restartPolicyRules: [{action: Stop, exitCodes: {operator: In, values: [1]}}]',
  ),
  gatesdup: bad('', ['readinessGates: [{conditionType: "bad type"}]']),
  msgpolicy: bad('terminationMessagePolicy: Nope'),
  ephemeral: bad('', [`ephemeralContainers: [{ name: e, ${IMAGE} }]`]),
  serviceaccount: bad('', ['serviceAccountName: robot']),
  configmapvol: bad('', ['volumes: [{name: c, configMap: {name: none}}]']),
  claimvol: bad('', ['volumes: [{name: c, csi: {driver: a.b}}]']),
  unknownfield: bad('nope: 1', ['nope: 1']),
  badlabel: bad('', [], ['labels: {"a b": c}']),
  longlabel: bad('', [], [`labels: {a: ${'x'.repeat(64)}}`]),
  bigannotations: bad('', [], [`annotations: {a: "${'x'.repeat(300_000)}"}`]),
  badtoleration: bad('', ['tolerations: [{operator: Nope}]']),
  tolsecs: bad('', ['tolerations: [{key: a, operator: Exists, effect: NoSchedule, tolerationSeconds: 5}]']),
  podlevelstorage: bad('', ['resources: {limits: {ephemeral-storage: 1Gi}}']),
  overheadonly: bad('', ['overhead: {cpu: 10m}']),
  resizebad: bad('resizePolicy: [{resourceName: nope, restartPolicy: NotRequired}]'),
  resizenever: bad('resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]', ['restartPolicy: Never']),
  stdinonceonly: bad('stdinOnce: true'),
  imgvolsub: bad('volumeMounts: [{name: i, mountPath: /i}]', ['volumes: [{name: i, image: {}}]']),
};
