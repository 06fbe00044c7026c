import type { Failpoint, Logger, Registry, TracingOptions } from '@podwright/base';
import type { CgroupDriver } from '@podwright/host';
import type { CountBuffer } from '@podwright/streaming';

/** Options for a shim: `binaryName` is for the runc shim, the others are for shims with their own configuration file. */
export type ShimSettings = {
  /** Name or path of the OCI runtime that the shim starts (containerd's `BinaryName`). Default: runc. */
  binaryName?: string;
  /** Path of the shim's configuration file (containerd's `ConfigPath`). */
  configPath?: string;
  /** Type URL of the shim's configuration (containerd's `TypeUrl`). */
  configType?: string;
};

/** A runtime handler. The `handler` field of a RuntimeClass selects one by name. */
export type HandlerOptions = {
  /** Id of a task runtime: `oci`, `shim-v2`, or a plugin's. */
  task: string;
  /** Name or path of the OCI runtime or shim. '' means the handler's name. */
  program: string;
  /** Id of a sandbox controller: `pinned`, `pause`, `shim`, or a plugin's. */
  sandbox: string;
  /** Reference of the pause image, for the sandbox controller `pause` only. By default the host's catatonit is used, without an image. */
  pauseImage?: string;
  /** Options for the shim, for the task runtime `shim-v2` only. */
  shim?: ShimSettings;
};

/** A third-party plugin, loaded from a module. */
export type PluginOptions = {
  /** Id of the plugin. Must differ from the ids of the built-in plugins of its type. */
  id: string;
  /** Path of the module, or name of the package. */
  package: string;
  /** The configuration file that names the plugin. Relative paths and packages are resolved from it. */
  from: string;
  /** Settings passed to the plugin after validation against its schema. */
  settings: Record<string, unknown>;
};

/** RLIMIT_NOFILE (getrlimit(2)): a process may raise its soft limit up to the hard limit. */
export type OpenFilesLimit = { soft: number; hard: number };

/**
 * How the runtime chooses the pod network. `follow`: uses the first valid configuration in the CNI directory, which it reads again each
 * time, as containerd does, or the built-in bridge while there is none. `keep`: chooses as `follow` does, but only once, at the first
 * start. `bridge`: always uses the built-in bridge. `cni`: always uses CNI.
 */
export type NetworkMode = 'follow' | 'keep' | 'bridge' | 'cni';

/** Options of `startRuntime`. All paths are absolute. Several runtimes may run on one host if their paths differ. */
export type RuntimeOptions = {
  /** Directory for persistent data: content, snapshots, records (/var/lib/podwright/runtime). */
  root: string;
  /** Directory for data that a reboot may remove: bundles, namespaces and sockets (/run/podwright). */
  state: string;
  /** Path of the CRI socket. */
  socket: string;
  /** Parent cgroup of containers whose pod names none (/podwright). The runtime must be allowed to create cgroups in it. */
  cgroupParent: string;
  /**
   * Cgroup driver that RuntimeConfig reports to the kubelet. `systemd`: cgroup parents may be slices, and their containers run in
   * scopes (containerd's SystemdCgroup). Default: `cgroupfs`.
   */
  cgroupDriver?: CgroupDriver;
  network: {
    /** Directory of CNI configurations (/etc/cni/net.d; containerd's cni.conf_dir). */
    confDir: string;
    /** How to choose between CNI and the built-in bridge. Default: `follow`. */
    mode?: NetworkMode;
    /** Directories of CNI plugins (containerd's cni.bin_dir). */
    binDirs: string[];
    /** Name of the built-in bridge. */
    bridge: string;
    /** IPv4 subnet of the built-in bridge. */
    subnet: string;
  };
  /** Name or path of the OCI runtime. '' means the first of crun and runc that works on this host. */
  ociRuntime: string;
  /** Name or path of conmon. */
  conmon: string;
  /** Directory with a `hosts.toml` for each registry (containerd's registry.config_path, certs.d). */
  registryConfigDir: string;
  /**
   * Directories of CDI specifications; a later one has precedence (containerd's cdi_spec_dirs). Default: /etc/cdi and
   * /var/run/cdi.
   */
  cdiDirectories?: string[];
  /**
   * References of images that the runtime reports as pinned, so that the kubelet's image GC keeps them. Pause images of handlers are always
   * pinned.
   */
  pinnedImages?: string[];
  /** Name of the snapshotter. `auto` means overlayfs if it works on this host, otherwise native. */
  snapshotter: string;
  /** Runtime handlers by name. crun and runc, if they work, are added under their own names unless a configured handler has that name. */
  handlers?: Record<string, HandlerOptions>;
  /**
   * Name of the handler for pods without a RuntimeClass (containerd's default_runtime_name). '' means `ociRuntime` with pinned namespaces.
   */
  defaultHandler?: string;
  /** Maximum number of sandboxes that the runtime prepares in advance. Default: 0. */
  readySandboxes?: number;
  /** RLIMIT_NOFILE of container processes. Default: soft 1024, hard 524288. */
  openFiles?: OpenFilesLimit;
  plugins?: PluginOptions[];
  /**
   * The listener for exec, attach and port-forward streams. Port 0 means any free port. `tls` has paths of PEM files, and makes the
   * listener use https.
   */
  streaming: { address: string; port: number; tls?: { certificate: string; key: string } };
  /**
   * TCP listener of the CRI in addition to the socket. `tls` has paths of PEM files; clients then need a certificate signed by `clientCa`.
   * Without `tls` the listener uses plain text. Default: no TCP listener.
   */
  tcp?: { address: string; port: number; tls?: { certificate: string; key: string; clientCa: string } };
  /** Whether the kernel expedites RCU grace periods while pods start and stop. Default: false. */
  expediteRcu?: boolean;
  /**
   * Whether to use shortcuts that depend on private files of OCI runtimes or on internals of the kernel, to prepare sandboxes in advance,
   * and to expedite RCU grace periods. Without these, pods start and stop more slowly. Default: true.
   */
  fastPaths?: boolean;
  /** Exports the spans of calls that have a sampled trace context. Default: no export. */
  tracing?: TracingOptions;
  logger: Logger;
  /** Counts the buffers of streams, for a process that triggers garbage collection itself. Optional. */
  countBuffer?: CountBuffer;
  /** Registry of the `grpc_server_*` metrics of CRI calls. */
  metrics?: Registry;
  /** For tests only: called at each named stage of each CRI call. */
  failpoint?: Failpoint;
};
