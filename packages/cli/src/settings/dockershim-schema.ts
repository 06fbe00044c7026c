import { isIP } from 'node:net';
import * as z from 'zod';
import { duration } from './duration.ts';
import { path } from './path-schema.ts';

/** A Unix socket, with or without the `unix://` prefix, as accepted by Docker and CRI clients. */
const socket = z
  .string()
  .regex(/^(unix:\/\/)?\/./, 'must be unix:// and the absolute path of a socket')
  .transform((value) => value.replace(/^unix:\/\//, ''));

const isCidr = (value: string) => {
  const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(value) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
};

const MAX_MTU = 65_535;

/** Schema of the configuration file's `[dockershim]` table. */
export const DockershimSchema = z.strictObject({
  docker_endpoint: socket.default('/var/run/docker.sock'),
  listen: socket.optional(),
  root: path.optional(),
  sandbox_image: z.string().min(1).default('registry.k8s.io/pause:3.10'),
  network_plugin: z.enum(['none', 'cni']).default('none'),
  cni_conf_dir: path.optional(),
  cni_bin_dirs: z.array(path).min(1).optional(),
  cni_cache_dir: path.default('/var/lib/cni/cache'),
  hairpin_mode: z.enum(['hairpin-veth', 'promiscuous-bridge', 'none']).default('promiscuous-bridge'),
  non_masquerade_cidr: z.string().refine(isCidr, 'must be a subnet such as 10.0.0.0/8').default('10.0.0.0/8'),
  mtu: z.int().min(0).max(MAX_MTU).default(0),
  runtime_cgroups: z.string().regex(/^\/./, 'must begin with "/"').optional(),
  cgroup_driver: z.enum(['cgroupfs', 'systemd']).optional(),
  streaming_address: z
    .string()
    .refine((value) => isIP(value) !== 0, 'must be an IPv4 or IPv6 address')
    .default('127.0.0.1'),
  streaming_port: z.int().min(0).max(65_535).default(0),
  image_pull_progress_deadline: duration.default('1m'),
});
