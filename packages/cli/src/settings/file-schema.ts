import { isIPv6 } from 'node:net';
import { parseCollectorEndpoint } from '@podwright/cri';
import { KubeletTable } from '@podwright/kubelet-configuration';
import * as z from 'zod';
import { DockershimSchema } from './dockershim-schema.ts';
import { parseListenAddress } from './listen-address.ts';
import { DEFAULT_POD_LOGS, DEFAULT_ROOT, DEFAULT_STATE } from './node-paths.ts';
import { optionalPath, path } from './path-schema.ts';
import { RuntimeSchema } from './runtime-schema.ts';

/**
 * An IPv4 range with 8 to 20 host bits: at least enough for the addresses of the API and the DNS server, and no larger than in
 * kube-apiserver.
 */
const SERVICE_CIDR = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\/(?:1[2-9]|2[0-4])$/;

const SERVICE_RANGES =
  'must be an IPv4 range of 12 to 24 bits, such as 10.96.0.0/12, an IPv6 range of 108 to 120 bits, or one of each: 10.96.0.0/12,fd00:96::/112';

/** Whether the text is a Service range, or one range per IP family, separated by a comma. */
function areServiceRanges(text: string): boolean {
  const families = text.split(',').map((range) => {
    const [address = '', length = ''] = range.split('/');
    return SERVICE_CIDR.test(range) ? 4 : isIPv6(address) && /^1(?:0[89]|1\d|20)$/.test(length) ? 6 : 0;
  });
  return !families.includes(0) && new Set(families).size === families.length;
}

/** A size of at least 16 MiB, in Mi or Gi. */
const OBJECTS_SIZE = /^(?:(?:1[6-9]|[2-9]\d|[1-9]\d{2,4})Mi|[1-9]\d?Gi)$/;
const bytesOfSize = (text: string): number => Number.parseInt(text, 10) * (text.endsWith('Gi') ? 1 << 30 : 1 << 20);

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

/** The configuration file. Every key is optional and documented in docs/configuration.md. Unknown keys are errors. */
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
      mtu: z
        .int()
        .max(65_535)
        .refine((mtu) => mtu === 0 || mtu >= 68, 'must be 0 or at least 68')
        .default(0),
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
  api: z
    .strictObject({
      enabled: z.boolean().optional(),
      listen: z.string().transform(parseListenAddress).optional(),
      service_cidr: z.string().refine(areServiceRanges, SERVICE_RANGES).default('10.96.0.0/12'),
      max_objects_size: z
        .string()
        .regex(OBJECTS_SIZE, 'must be an amount in Mi or Gi, at least 16Mi, such as 512Mi')
        .transform(bytesOfSize)
        .optional(),
      limit_claims: z.boolean().optional(),
      durability: z.enum(['process', 'power']).optional(),
      audit_log: path.optional(),
      audit_policy: path.optional(),
    })
    .superRefine(({ enabled, service_cidr: _range, ...others }, context) => {
      const given = Object.entries(others).find(([, one]) => one !== undefined);
      if (!enabled && given !== undefined)
        context.addIssue({ code: 'custom', path: [given[0]], message: 'needs enabled = true in the same table' });
      if (others.audit_log === undefined && others.audit_policy !== undefined)
        context.addIssue({ code: 'custom', path: ['audit_policy'], message: 'needs audit_log in the same table' });
    })
    .prefault({}),
  runtime: RuntimeSchema.prefault({}),
  dockershim: DockershimSchema.prefault({}),
  kubelet: KubeletTable.prefault({}),
});

export type FileSettings = z.infer<typeof FileSchema>;
