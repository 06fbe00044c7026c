import type { CgroupDriver, Failpoint, Logger, Registry, TracingOptions } from '@podwright/base';

/** Settings that shims understand: `binaryName` that for runc, the others those with a configuration file of their own. */
export type ShimSettings = {
  /** Name or path of the OCI runtime that the shim starts; runc if left out. */
  binaryName?: string;
  configPath?: string;
  /** What kind of configuration it is, as the shim calls it. */
  configType?: string;
};

/** What a runtime handler is made of; a RuntimeClass picks one by name. */
export type HandlerOptions = {
  /** Id of a task runtime: `oci`, `shim-v2`, or a plugin's. */
  task: string;
  /** Name or path of the OCI runtime or shim; '' for the one with the handler's name. */
  program: string;
  /** Id of a sandbox controller: `pinned`, `pause`, `shim`, or a plugin's. */
  sandbox: string;
  /** With the sandbox controller `pause`: reference of the image of pods' own processes; none is the host's catatonit. */
  pauseImage?: string;
  /** With the task runtime `shim-v2`: settings of the shim. */
  shim?: ShimSettings;
};

/** A plugin of somebody else, from a module. */
export type PluginOptions = {
  /** What the options call it: it must not be the id of a built-in plugin of its type. */
  id: string;
  /** A path, or the name of a package. */
  package: string;
  /** The file that names it: paths are relative to it, packages are looked up from it. */
  from: string;
  /** Handed to the plugin once its schema has accepted them. */
  settings: Record<string, unknown>;
};

/** RLIMIT_NOFILE (getrlimit(2)): a process may raise its soft limit up to the hard one. */
export type OpenFilesLimit = { soft: number; hard: number };

/**
 * Who chooses the network of pods. `follow`: the CNI directory, at any time: its first valid configuration, as in containerd, or our
 * own bridge while it has none. `keep`: the first start does so once, and its choice holds. `bridge` and `cni`: the settings.
 */
export type NetworkMode = 'follow' | 'keep' | 'bridge' | 'cni';

/** Everything that `startRuntime` needs to know; every path is absolute. Several runtimes with other paths live side by side. */
export type RuntimeOptions = {
  /** Lasting data: content, snapshots, records (/var/lib/podwright/runtime). */
  root: string;
  /** What a reboot may lose: bundles, namespaces, sockets (/run/podwright). */
  state: string;
  /** Path of the CRI socket. */
  socket: string;
  /** Cgroup below which containers without a cgroup parent of their own go (/podwright); it must be ours to make cgroups in. */
  cgroupParent: string;
  /** `systemd` also takes pods in slices, whose containers get scopes, and kubelets are told to use them; else cgroupfs. */
  cgroupDriver?: CgroupDriver;
  network: {
    /** CNI configuration of the host (/etc/cni/net.d). */
    confDir: string;
    /** Who chooses between that and the default bridge network; without it `follow`. */
    mode?: NetworkMode;
    binDirs: string[];
    /** Default network: bridge name and IPv4 subnet. */
    bridge: string;
    subnet: string;
  };
  /** Name or path of the OCI runtime; '' picks the first of crun and runc that works here. */
  ociRuntime: string;
  /** Name or path of conmon. */
  conmon: string;
  /** Directory with a `hosts.toml` a registry, as containerd's certs.d. */
  registryConfigDir: string;
  /** Directories of CDI specifications, the later the stronger; else /etc/cdi and /var/run/cdi. */
  cdiDirectories?: string[];
  /** References of images that clients are told to leave alone; those that pause handlers use are always among them. */
  pinnedImages?: string[];
  /** `auto` is overlayfs where it works, else native. */
  snapshotter: string;
  /** Runtime handlers by name. Each of crun and runc that works is one too, unless its name is taken. */
  handlers?: Record<string, HandlerOptions>;
  /** Name of the handler for pods that ask for none; '' is `ociRuntime` with pinned namespaces. */
  defaultHandler?: string;
  /** How many sandboxes are made ahead at most, for pods to come; else none. */
  readySandboxes?: number;
  /** How many files a process of a container may have open; else 1024, which it may raise to 524288. */
  openFiles?: OpenFilesLimit;
  plugins?: PluginOptions[];
  /** Where exec, attach and port-forward are served: host and port (0: any); https with the PEM files of `tls`. */
  streaming: { address: string; port: number; tls?: { certificate: string; key: string } };
  /** A TCP listener of the CRI beside the socket, for clients with a certificate of `clientCa` (PEM files); else plain text. */
  tcp?: { address: string; port: number; tls?: { certificate: string; key: string; clientCa: string } };
  /** Whether the kernel is to expedite RCU grace periods while pods start and end; no unless given. */
  expediteRcu?: boolean;
  /** Where spans of calls go that came with a sampled trace context; nowhere unless given. */
  tracing?: TracingOptions;
  logger: Logger;
  /** Where calls of the CRI are counted, as `grpc_server_*`. */
  metrics?: Registry;
  /** For tests only: called at each named stage of each verb. */
  failpoint?: Failpoint;
};
