/** Adjustments requested in the scenario `effects`, each for a new container. */
export const ADJUSTMENTS: Readonly<Record<string, object>> = {
  annotations: { annotations: { added: 'yes' } },
  'annotation-removed': { annotations: { '-io.kubernetes.cri.container-type': '' } },
  environment: { env: [{ key: 'ADDED', value: 'a=b' }, { key: '-PATH' }] },
  arguments: { args: ['sh', '-c', 'sleep 7'] },
  mounts: { mounts: [{ destination: '/added', type: 'bind', source: '/etc', options: ['rbind', 'ro'] }] },
  'mount-replaced': { mounts: [{ destination: '/dev/shm', type: 'tmpfs', source: 'tmpfs', options: ['rw'] }] },
  'mount-removed': { mounts: [{ destination: '-/dev/mqueue' }] },
  'mount-shared': { mounts: [{ destination: '/sh', type: 'bind', source: '/tmp', options: ['rbind', 'rshared'] }] },
  'mount-slave': { mounts: [{ destination: '/sl', type: 'bind', source: '/tmp', options: ['rbind', 'rslave'] }] },
  hooks: {
    hooks: {
      createRuntime: [{ path: '/bin/true', args: ['true', 'x'], env: ['A=1'], timeout: { value: 3n } }],
      poststop: [{ path: '/bin/true' }],
    },
  },
  device: {
    linux: {
      devices: [{ path: '/dev/added', type: 'c', major: 1n, minor: 3n, fileMode: { value: 0o640 }, uid: { value: 5 } }],
    },
  },
  'block-device': { linux: { devices: [{ path: '/dev/block', type: 'b', major: 7n, minor: 0n }] } },
  'device-removed': { linux: { devices: [{ path: '-/dev/zero' }] } },
  rlimits: { rlimits: [{ type: 'RLIMIT_NOFILE', hard: 444n, soft: 333n }] },
  memory: { linux: { resources: { memory: { limit: { value: 96n << 20n } } } } },
  'memory-reservation': { linux: { resources: { memory: { reservation: { value: 32n << 20n } } } } },
  'memory-swap': { linux: { resources: { memory: { swap: { value: 128n << 20n } } } } },
  cpu: {
    linux: {
      resources: {
        cpu: { shares: { value: 300n }, quota: { value: 20_000n }, period: { value: 50_000n }, cpus: '0-1', mems: '0' },
      },
    },
  },
  'cpu-realtime': { linux: { resources: { cpu: { realtimeRuntime: { value: 1n }, realtimePeriod: { value: 2n } } } } },
  pids: { linux: { resources: { pids: { limit: 55n } } } },
  unified: { linux: { resources: { unified: { 'memory.high': '50000000' } } } },
  hugepages: { linux: { resources: { hugepageLimits: [{ pageSize: '2MB', limit: 0n }] } } },
  'device-rules': {
    linux: {
      resources: {
        devices: [{ allow: true, type: 'c', major: { value: 10n }, minor: { value: 200n }, access: 'rwm' }],
      },
    },
  },
  'oom-score': { linux: { oomScoreAdj: { value: 555n } } },
  cgroup: { linux: { cgroupsPath: '/adjusted/path' } },
  sysctl: { linux: { sysctl: { 'net.ipv4.ip_unprivileged_port_start': '77' } } },
  'io-priority': { linux: { ioPriority: { class: 2, priority: 5 } } },
  scheduler: { linux: { scheduler: { policy: 3, nice: 5 } } },
  'namespace-removed': { linux: { namespaces: [{ type: '-ipc' }] } },
  'namespace-added': { linux: { namespaces: [{ type: 'cgroup' }] } },
  'namespace-path': { linux: { namespaces: [{ type: 'ipc', path: '/proc/1/ns/ipc' }] } },
  seccomp: {
    linux: {
      seccompPolicy: {
        defaultAction: 'SCMP_ACT_ALLOW',
        defaultErrno: { value: 1 },
        architectures: ['SCMP_ARCH_X86_64'],
        syscalls: [{ names: ['kexec_load'], action: 'SCMP_ACT_ERRNO', errnoRet: { value: 5 } }],
      },
    },
  },
  'net-devices': { linux: { netDevices: { 'no-such0': { name: 'eth7' } } } },
  'memory-policy': { linux: { memoryPolicy: { mode: 2, nodes: '0' } } },
  rdt: { linux: { rdt: { closId: { value: 'x' } } } },
  'rdt-class': { linux: { resources: { rdtClass: { value: 'gold' } } } },
  'block-io-class': { linux: { resources: { blockioClass: { value: 'slow' } } } },
  'unknown-cdi-device': { cdiDevices: [{ name: 'example.com/none=0' }] },
};
