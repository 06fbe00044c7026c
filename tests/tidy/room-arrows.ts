/**
 * What each room of a package, a directory below its `src`, may import of the others. Files at the top of `src` put rooms
 * together or are what all may use: they stand in no table, but form no circle with rooms either. A new arrow is a line here,
 * and a reason in its commit.
 */
export const ROOM_ARROWS: Record<string, Record<string, string[]>> = {
  base: {
    cgroup: [],
  },
  cni: {},
  images: {
    archive: ['content', 'spec', 'store', 'unpack'],
    content: [],
    pull: ['content', 'registry', 'spec', 'store'],
    registry: ['content', 'spec'],
    snapshots: [],
    spec: ['content'],
    store: ['content', 'registry', 'snapshots', 'spec', 'unpack'],
    unpack: ['content'],
  },
  cri: {
    client: [],
    server: ['server/authority'],
    'server/authority': [],
    testing: ['client', 'server'],
  },
  streaming: {
    client: ['server', 'spdy'],
    server: ['spdy'],
    spdy: [],
  },
  cli: {
    client: [],
    commands: ['client', 'daemon', 'output', 'run', 'settings'],
    daemon: ['client', 'settings'],
    output: [],
    run: ['client', 'output'],
    settings: [],
  },
  shim: {
    ttrpc: [],
  },
  metadata: {},
  system: {},
  runtime: {
    cdi: ['oci'],
    containers: ['cdi', 'host', 'oci', 'records', 'sandbox', 'tasks'],
    cri: ['cri/container', 'cri/image', 'cri/runtime', 'cri/sandbox', 'cri/services', 'cri/statistics'],
    'cri/container': ['cri/messages', 'cri/services', 'records'],
    'cri/image': ['cri/messages', 'cri/services'],
    'cri/messages': ['cdi', 'network', 'oci', 'records'],
    'cri/runtime': ['cri/messages', 'cri/services', 'records'],
    'cri/sandbox': ['cri/messages', 'cri/services', 'records'],
    'cri/services': ['containers', 'network', 'records', 'sandbox', 'statistics', 'tasks'],
    'cri/statistics': ['cri/messages', 'cri/services', 'records', 'statistics'],
    host: ['oci', 'oci-runtime'],
    network: [],
    oci: [],
    'oci-runtime': ['oci'],
    plugin: ['host', 'network', 'oci-runtime', 'records', 'sandbox', 'tasks', 'tasks/shim'],
    records: ['network', 'oci'],
    sandbox: ['network', 'oci', 'records', 'tasks', 'tasks/shim'],
    statistics: ['containers', 'records', 'sandbox', 'tasks'],
    tasks: ['oci'],
    'tasks/oci': ['oci', 'oci-runtime', 'tasks'],
    'tasks/shim': ['oci', 'oci-runtime', 'tasks'],
  },
};
