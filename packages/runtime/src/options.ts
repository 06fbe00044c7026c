import type { Failpoint, Logger, Registry, TracingOptions } from '@podwright/base';
import type { CgroupDriver } from '@podwright/host';
import type { DefaultValidatorSettings } from '@podwright/nri';
import type { OpenFilesLimit } from '@podwright/oci';
import type { CountBuffer } from '@podwright/streaming';

/** Options for a shim. `binaryName` is for the runc shim; the others are for shims that have their own configuration file. */
export type ShimSettings = {
  /** Name or path of the OCI runtime that the shim starts (containerd's `BinaryName`). Default: runc. */
  binaryName?: string;
  /** Path of the shim's configuration file (containerd's `ConfigPath`). */
  configPath?: string;
  /** Type URL of the shim's configuration (containerd's `TypeUrl`). */
  configType?: string;
};

/** A runtime handler, selected by name in a RuntimeClass's `handler` field. */
export type HandlerOptions = {
  /** ID of a task runtime: `oci`, `shim-v2`, or that of a plugin. */
  task: string;
  /** Name or path of the OCI runtime or shim. '' means the same as the handler's name. */
  program: string;
  /** ID of a sandbox controller: `pinned`, `pause`, `shim`, or that of a plugin. */
  sandbox: string;
  /** Reference of the pause image, only for the sandbox controller `pause`. By default the host's catatonit is used, without an image. */
  pauseImage?: string;
  /** Options for the shim, only for the task runtime `shim-v2`. */
  shim?: ShimSettings;
};

/** A third-party plugin, loaded from a module. */
export type PluginOptions = {
  /** ID of the plugin. Must differ from the IDs of the built-in plugins of its type. */
  id: string;
  /** Path of the module, or name of the npm package. */
  package: string;
  /** The configuration file that names the plugin. Relative paths and packages are resolved from there. */
  from: string;
  /** Settings that are passed to the plugin after being validated against its schema. */
  settings: Record<string, unknown>;
};

/**
 * How the pod network is chosen. `follow`: uses the first valid configuration in the CNI directory, which is read again each time, as in
 * containerd; while there is none, uses the built-in bridge. `keep`: chooses like `follow`, but only once, at the first start. `bridge`:
 * always uses the built-in bridge. `cni`: always uses CNI.
 */
export type NetworkMode = 'follow' | 'keep' | 'bridge' | 'cni';

/** Options for NRI plugins (containerd's `[plugins.'io.containerd.nri.v1.nri']`). Times in milliseconds. */
export type NriOptions = {
  /** Path of the socket on which plugins connect; '' for none. */
  socketPath: string;
  /** Directory of plugins that the container runtime starts; '' for none. */
  pluginPath: string;
  /** Directory of the configuration files of these plugins. */
  pluginConfigPath: string;
  registrationTimeoutMs: number;
  requestTimeoutMs: number;
  /** Settings of the built-in validator. If absent, it is not used. */
  validator?: DefaultValidatorSettings;
};

/** Options for `startRuntime`. All paths are absolute. Several container runtimes may run on the same host if their paths differ. */
export type RuntimeOptions = {
  /** Directory for persistent data: content, snapshots, records (/var/lib/podwright/runtime). */
  root: string;
  /** Directory for data that a reboot may remove: bundles, namespaces and sockets (/run/podwright). */
  state: string;
  /** Path of the CRI socket. */
  socket: string;
  /** Parent cgroup of containers whose pod specifies none (/podwright). The container runtime must be allowed to create cgroups in it. */
  cgroupParent: string;
  /**
   * Cgroup driver that RuntimeConfig reports to the kubelet. With `systemd`, cgroup parents may be slices, and their containers run in
   * scopes (containerd's SystemdCgroup). Default: `cgroupfs`.
   */
  cgroupDriver?: CgroupDriver;
  network: {
    /** CNI configuration directory (/etc/cni/net.d; containerd's cni.conf_dir). */
    confDir: string;
    /** How to choose between CNI and the built-in bridge. Default: `follow`. */
    mode?: NetworkMode;
    /** CNI plugin directories (containerd's cni.bin_dir). */
    binDirs: string[];
    /** Name of the built-in bridge. */
    bridge: string;
    /** Subnet of the built-in bridge, or one subnet per IP family, separated by a comma. */
    subnet: string;
    /** MTU of pods' links on the built-in bridge. Default: 0, the MTU of the link of the host's default route. */
    mtu?: number;
  };
  /** Name or path of the OCI runtime. '' means the first of crun and runc that works on this host. */
  ociRuntime: string;
  /** Name or path of conmon. */
  conmon: string;
  /** Directory that contains a `hosts.toml` for each registry (containerd's registry.config_path, certs.d). */
  registryConfigDir: string;
  /** Directories of CDI specs; later ones take precedence (containerd's cdi_spec_dirs). Default: /etc/cdi and /var/run/cdi. */
  cdiDirectories?: string[];
  /** References of images to report as pinned, so that the kubelet's image GC keeps them. The handlers' pause images are always pinned. */
  pinnedImages?: string[];
  /** Name of the snapshotter. `auto` means overlayfs if it works on this host, otherwise native. */
  snapshotter: string;
  /**
   * Runtime handlers by name. crun and runc, if they work, are added under their own names unless a configured handler already has that
   * name.
   */
  handlers?: Record<string, HandlerOptions>;
  /**
   * Name of the handler for pods without a RuntimeClass (containerd's default_runtime_name). '' means `ociRuntime` with pinned namespaces.
   */
  defaultHandler?: string;
  /** Maximum number of sandboxes to prepare in advance. Default: 0. */
  readySandboxes?: number;
  /** RLIMIT_NOFILE of container processes. Default: soft 1024, hard 524288. */
  openFiles?: OpenFilesLimit;
  plugins?: PluginOptions[];
  /** NRI plugins. If absent, NRI is disabled. */
  nri?: NriOptions;
  /**
   * Listener for exec, attach and port-forward streams. Port 0 means any free port. `tls` contains the paths of PEM files, and makes the
   * listener use HTTPS.
   */
  streaming: { address: string; port: number; tls?: { certificate: string; key: string } };
  /**
   * TCP listener for the CRI, in addition to the socket. `tls` contains the paths of PEM files; clients then need a certificate signed by
   * `clientCa`. Without `tls`, the listener uses plain text. Default: no TCP listener.
   */
  tcp?: { address: string; port: number; tls?: { certificate: string; key: string; clientCa: string } };
  /** Whether the kernel is made to expedite RCU grace periods while pods start and stop. Default: false. */
  expediteRcu?: boolean;
  /**
   * Whether to use shortcuts that depend on private files of OCI runtimes or on kernel internals, to prepare sandboxes in advance, and to
   * expedite RCU grace periods. If false, pods start and stop more slowly. Default: true.
   */
  fastPaths?: boolean;
  /** Exports the spans of calls whose trace context is sampled. Default: no export. */
  tracing?: TracingOptions;
  logger: Logger;
  /** Counts stream buffers, for a process that triggers garbage collection itself. Optional. */
  countBuffer?: CountBuffer;
  /** Registry for the `grpc_server_*` metrics of CRI calls. */
  metrics?: Registry;
  /** For tests only: called at each named stage of each CRI call. */
  failpoint?: Failpoint;
};
