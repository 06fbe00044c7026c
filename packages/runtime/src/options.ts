import type { Failpoint, Logger, Registry, TracingOptions } from '@podwright/base';
import type { CgroupDriver } from '@podwright/host';
import type { DefaultValidatorSettings } from '@podwright/nri';
import type { OpenFilesLimit } from '@podwright/oci';
import type { CountBuffer } from '@podwright/streaming';

/** Shim options. `binaryName` is for the runc shim; the others are for shims with their own configuration file. */
export type ShimSettings = {
  /** Name or path of the OCI runtime used by the shim (containerd's `BinaryName`). Default: runc. */
  binaryName?: string;
  /** Path of the shim's configuration file (containerd's `ConfigPath`). */
  configPath?: string;
  /** Type URL of the shim's configuration (containerd's `TypeUrl`). */
  configType?: string;
};

/** A runtime handler, selected by name in a RuntimeClass's `handler` field. */
export type HandlerOptions = {
  /** ID of a task runtime: `oci`, `shim-v2`, or a plugin's. */
  task: string;
  /** Name or path of the OCI runtime or shim. '' means the handler's name. */
  program: string;
  /** ID of a sandbox controller: `pinned`, `pause`, `shim`, or a plugin's. */
  sandbox: string;
  /**
   * Reference of the pause image, only for the sandbox controller `pause`. By default, no image is needed, because the host's catatonit is
   * used.
   */
  pauseImage?: string;
  /** Shim options, only for the task runtime `shim-v2`. */
  shim?: ShimSettings;
};

/** A third-party plugin, loaded from a module. */
export type PluginOptions = {
  /** ID of the plugin. Must differ from the IDs of the built-in plugins of its type. */
  id: string;
  /** Path of the module, or name of the npm package. */
  package: string;
  /** The configuration file that lists the plugin. Relative paths and packages are resolved from there. */
  from: string;
  /** Settings passed to the plugin after validation against its schema. */
  settings: Record<string, unknown>;
};

/**
 * How the pod network is chosen. `follow`: the first valid configuration in the CNI directory, which is reread each time, as in containerd;
 * as long as there is none, the built-in bridge. `keep`: like `follow`, but chosen only once, at the first start. `bridge`: always the
 * built-in bridge. `cni`: always CNI.
 */
export type NetworkMode = 'follow' | 'keep' | 'bridge' | 'cni';

/** Options for NRI plugins (containerd's `[plugins.'io.containerd.nri.v1.nri']`). Times in milliseconds. */
export type NriOptions = {
  /** Path of the socket that plugins connect to; '' for none. */
  socketPath: string;
  /** Directory of plugins to be started by the container runtime; '' for none. */
  pluginPath: string;
  /** Directory of the configuration files of the plugins started by the container runtime. */
  pluginConfigPath: string;
  registrationTimeoutMs: number;
  requestTimeoutMs: number;
  /** Settings of the built-in validator. If absent, it is not used. */
  validator?: DefaultValidatorSettings;
};

/** Options for `startRuntime`. All paths are absolute. Several container runtimes can run on the same host if their paths differ. */
export type RuntimeOptions = {
  /** Directory for persistent data: content, snapshots, records (/var/lib/podwright/runtime). */
  root: string;
  /** Directory for data that may be lost in a reboot: bundles, namespaces and sockets (/run/podwright). */
  state: string;
  /** Path of the CRI socket. */
  socket: string;
  /**
   * Parent cgroup of containers whose pod does not specify one (/podwright). The container runtime must be allowed to create cgroups in it.
   */
  cgroupParent: string;
  /**
   * Cgroup driver reported to the kubelet by RuntimeConfig. With `systemd`, cgroup parents may be slices, whose containers run in scopes
   * (containerd's SystemdCgroup). Default: `cgroupfs`.
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
    /** Subnet of the built-in bridge, or one subnet per IP family, comma-separated. */
    subnet: string;
    /** MTU of pods' links on the built-in bridge. Default: 0, for the MTU of the host's default route's link. */
    mtu?: number;
  };
  /** Name or path of the OCI runtime. '' means crun or runc, whichever works first on this host. */
  ociRuntime: string;
  /** Name or path of conmon. */
  conmon: string;
  /** Directory with a `hosts.toml` per registry (containerd's registry.config_path, certs.d). */
  registryConfigDir: string;
  /** Directories of CDI specs; later ones take precedence (containerd's cdi_spec_dirs). Default: /etc/cdi and /var/run/cdi. */
  cdiDirectories?: string[];
  /**
   * References of images to be reported as pinned, so that the kubelet's image GC retains them. The handlers' pause images are always
   * pinned.
   */
  pinnedImages?: string[];
  /** Name of the snapshotter. `auto` means overlayfs if it works on this host, otherwise native. */
  snapshotter: string;
  /**
   * Runtime handlers by name. If they work, crun and runc are added under their own names, unless a handler with the same name is
   * configured.
   */
  handlers?: Record<string, HandlerOptions>;
  /**
   * Name of the handler for pods without a RuntimeClass (containerd's default_runtime_name). '' means `ociRuntime` with pinned namespaces.
   */
  defaultHandler?: string;
  /** Maximum number of sandboxes prepared in advance. Default: 0. */
  readySandboxes?: number;
  /** RLIMIT_NOFILE of container processes. Default: soft 1024, hard 524288. */
  openFiles?: OpenFilesLimit;
  plugins?: PluginOptions[];
  /** NRI plugins. If absent, NRI is disabled. */
  nri?: NriOptions;
  /** Listener for exec, attach and port-forward streams. Port 0 means any free port. `tls` (paths of PEM files) enables HTTPS. */
  streaming: { address: string; port: number; tls?: { certificate: string; key: string } };
  /**
   * TCP listener for the CRI, in addition to the socket. If `tls` (paths of PEM files) is set, clients need a certificate signed by
   * `clientCa`; otherwise the listener uses plain text. Default: no TCP listener.
   */
  tcp?: { address: string; port: number; tls?: { certificate: string; key: string; clientCa: string } };
  /** Whether to make the kernel expedite RCU grace periods while pods start and stop. Default: false. */
  expediteRcu?: boolean;
  /**
   * Whether to use shortcuts that depend on OCI runtimes' private files or on kernel internals, to prepare sandboxes in advance, and to
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
  /** For tests only: called whenever a CRI call reaches one of its named stages. */
  failpoint?: Failpoint;
};
