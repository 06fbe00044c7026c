import { parseCollectorEndpoint } from '@podwright/cri';
import { thresholdProblems } from '@podwright/kubelet-configuration';
import * as z from 'zod';
import { DockershimSchema } from './dockershim-schema.ts';
import { parseListenAddress } from './listen-address.ts';
import { DEFAULT_POD_LOGS, DEFAULT_ROOT, DEFAULT_STATE } from './node-paths.ts';
import { optionalPath, path } from './path-schema.ts';
import { RuntimeSchema } from './runtime-schema.ts';

/** The name of a header field of an HTTP request (RFC 9110, 5). */
const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is not a valid name of a header field');
const headerValue = z.string().regex(/^[\t -~\u00a0-\u00ff]*$/, 'has characters that a header field may not have');

const hasNoCredentials = (url: string) => {
  const { username, password } = new URL(url);
  return username === '' && password === '';
};

const NEEDS_KUBECONFIG =
  'needs the kubeconfig of a cluster: add --kubeconfig PATH, or kubeconfig = "PATH" in the table cluster of the file; ' +
  'a node without a cluster is configured in the table kubelet';

const isCollector = (endpoint: string) => {
  try {
    return parseCollectorEndpoint(endpoint) !== undefined;
  } catch {
    return false;
  }
};

const port = z.int().min(0).max(65_535);

/** The kubelet's HTTP API. */
const ServerSchema = z.strictObject({
  address: z.string().min(1).default('0.0.0.0'),
  port: port.optional(),
  healthz_port: port.optional(),
  tls_cert_file: path.optional(),
  tls_private_key_file: path.optional(),
  client_ca_file: path.optional(),
  token_file: path.optional(),
  anonymous_auth: z.boolean().default(false),
});

const amounts = z.record(z.string(), z.string());

/** Thresholds at which pods are evicted, named as in KubeletConfiguration. */
const EvictionSchema = z
  .strictObject({
    hard: amounts.optional(),
    soft: amounts.default({}),
    soft_grace_period: amounts.default({}),
    minimum_reclaim: amounts.default({}),
    pressure_transition_period_seconds: z.int().min(0).default(300),
    max_pod_grace_period_seconds: z.int().min(0).default(0),
  })
  .superRefine(({ hard = {}, soft, soft_grace_period: softGracePeriod, minimum_reclaim: minimumReclaim }, context) => {
    const keys = {
      hard: 'hard',
      soft: 'soft',
      softGracePeriod: 'soft_grace_period',
      minimumReclaim: 'minimum_reclaim',
    };
    for (const { setting, message } of thresholdProblems({ hard, soft, softGracePeriod, minimumReclaim }))
      context.addIssue({ code: 'custom', path: [keys[setting]], message });
  });

/** The configuration file. Every key is optional and explained in docs/configuration.md. Unknown keys are errors. */
export const FileSchema = z.strictObject({
  root: path.default(DEFAULT_ROOT),
  state: path.default(DEFAULT_STATE),
  pod_logs: path.default(DEFAULT_POD_LOGS),
  container_logs: optionalPath.optional(),
  manifests: path.optional(),
  node_name: z.string().min(1).optional(),
  cgroup_parent: z.string().startsWith('/', 'must begin with "/"').default('/podwright'),
  metrics_address: z.string().transform(parseListenAddress).optional(),
  fast_paths: z.boolean().default(true),
  log_level: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  tracing: z
    .strictObject({
      endpoint: z.string().refine(isCollector, 'must be http://HOST:PORT, HOST:PORT or unix:///PATH').optional(),
      sampling_rate_per_million: z.int().min(0).max(1_000_000).default(1_000_000),
    })
    .prefault({}),
  network: z
    .strictObject({
      bridge: z.string().min(1).max(15).default('podwright0'),
      subnet: z.string().min(1).default('10.83.0.0/16'),
      mode: z.enum(['auto', 'bridge', 'cni']).default('auto'),
      cni_conf_dir: path.default('/etc/cni/net.d'),
      cni_bin_dirs: z.array(path).min(1).default(['/opt/cni/bin', '/usr/lib/cni', '/usr/libexec/cni']),
    })
    .prefault({}),
  cluster: z
    .strictObject({
      kubeconfig: path.optional(),
      bootstrap_kubeconfig: path.optional(),
      kubelet_configuration: path.optional(),
    })
    .superRefine(({ kubeconfig, ...others }, context) => {
      const given = Object.entries(others).find(([, one]) => one !== undefined);
      if (kubeconfig === undefined && given !== undefined)
        context.addIssue({ code: 'custom', path: [given[0]], message: NEEDS_KUBECONFIG });
    })
    .prefault({}),
  runtime: RuntimeSchema.prefault({}),
  dockershim: DockershimSchema.prefault({}),
  kubelet: z
    .strictObject({
      static_pod_url: z
        .url({ protocol: /^https?$/, error: 'must be an http or https URL', abort: true })
        .refine(hasNoCredentials, 'must have no user and password in it; static_pod_url_header can have them')
        .optional(),
      static_pod_url_header: z.record(headerName, z.array(headerValue)).default({}),
      cluster_dns: z.array(z.string()).default([]),
      cluster_domain: z.string().default('cluster.local'),
      max_pods: z.int().positive().default(110),
      serialize_image_pulls: z.boolean().default(false),
      max_parallel_image_pulls: z.int().positive().default(5),
      max_container_restart_period_seconds: z.int().min(1).max(300).default(300),
      container_log_max_size: z.string().default('10Mi'),
      container_log_max_files: z.int().min(2).default(5),
      seccomp_default: z.boolean().optional(),
      net_raw_default: z.boolean().optional(),
      pod_pids_limit: z
        .int()
        .min(-1)
        .refine((value) => value !== 0, 'must be at least 1, or -1 for any number')
        .optional(),
      enforce_node_allocatable: z.boolean().default(true),
      device_plugin_dir: path.optional(),
      eviction: EvictionSchema.prefault({}),
      shutdown_grace_period_seconds: z.int().min(0).max(1_000_000).default(0),
      shutdown_critical_pods_seconds: z.int().min(0).default(0),
      server: ServerSchema.prefault({}),
      system_reserved: z
        .strictObject({ memory: z.string().min(1).optional(), pid: z.int().min(0).optional() })
        .prefault({}),
    })
    .refine((kubelet) => kubelet.shutdown_critical_pods_seconds <= kubelet.shutdown_grace_period_seconds, {
      path: ['shutdown_critical_pods_seconds'],
      error: 'must be at most shutdown_grace_period_seconds',
    })
    .prefault({}),
});

export type FileSettings = z.infer<typeof FileSchema>;
