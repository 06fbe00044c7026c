import { isIP } from 'node:net';
import * as z from 'zod';
import { NriSchema } from './nri-schema.ts';
import { path } from './path-schema.ts';

/** The name of a runtime handler or plugin: a DNS label, as in a RuntimeClass. */
const name = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must be lower case letters, digits and "-", at most 63 of them');

const HandlerSchema = z.strictObject({
  task: z.string().min(1).default('oci'),
  program: z.string().default(''),
  sandbox: z.string().min(1).default('pinned'),
  pause_image: z.string().optional(),
  shim: z
    .strictObject({
      binary_name: z.string().min(1).optional(),
      config_path: path.optional(),
      config_type: z.string().min(1).optional(),
    })
    .optional(),
});

const PluginSchema = z.strictObject({
  package: z.string().min(1),
  settings: z.record(z.string(), z.unknown()).default({}),
});

const address = z.string().refine((value) => isIP(value) !== 0, 'must be an IPv4 or IPv6 address');
const port = z.int().min(0).max(65535);

const TcpSchema = z.strictObject({
  address: address.default('127.0.0.1'),
  port: port,
  cert: path.optional(),
  key: path.optional(),
  client_ca: path.optional(),
  insecure: z.boolean().default(false),
});

/** Maximum number of ready sandboxes. No burst of pods needs more, and more would cost the kernel more time than they would save. */
const MAX_READY_SANDBOXES = 64;

/**
 * A value for RLIMIT_NOFILE. The maximum is roughly the fs.nr_open that systemd sets. Values above the daemon's own limit are clamped to
 * it.
 */
const openFiles = z
  .int()
  .min(1)
  .max(2 ** 30);

/** Schema of the configuration file's `[runtime]` table. */
export const RuntimeSchema = z
  .strictObject({
    oci_runtime: z.string().default(''),
    conmon: z.string().min(1).default('conmon'),
    pause_image: z.string().default(''),
    default_handler: z.string().default(''),
    cgroup_driver: z.enum(['auto', 'cgroupfs', 'systemd']).default('auto'),
    expedite_rcu: z.boolean().default(false),
    snapshotter: z.string().min(1).default('auto'),
    ready_sandboxes: z.int().min(0).max(MAX_READY_SANDBOXES).default(8),
    open_files_soft_limit: openFiles.default(1024),
    open_files_hard_limit: openFiles.default(524_288),
    registry_config_dir: path.default('/etc/podwright/certs.d'),
    cdi_spec_dirs: z.array(path).default(['/etc/cdi', '/var/run/cdi']),
    pinned_images: z.array(z.string().min(1)).default([]),
    streaming_address: address.default('127.0.0.1'),
    streaming_port: port.default(0),
    streaming_cert: path.optional(),
    streaming_key: path.optional(),
    tcp: TcpSchema.optional(),
    nri: NriSchema.prefault({}),
    handlers: z.record(name, HandlerSchema).default({}),
    plugins: z.record(name, PluginSchema).default({}),
  })
  .refine((runtime) => runtime.open_files_soft_limit <= runtime.open_files_hard_limit, {
    path: ['open_files_soft_limit'],
    error: 'must be at most open_files_hard_limit',
  });

export type RuntimeSettings = z.infer<typeof RuntimeSchema>;
