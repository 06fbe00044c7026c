import * as z from 'zod';
import { duration } from './duration.ts';
import { path } from './path-schema.ts';

/** Schema of the configuration file's `[runtime.nri]` table, with the keys of containerd's NRI plugin. */
export const NriSchema = z.strictObject({
  disable: z.boolean().default(false),
  socket_path: path.optional(),
  plugin_path: path.optional(),
  plugin_config_path: path.default('/etc/nri/conf.d'),
  plugin_registration_timeout: duration.default('5s'),
  plugin_request_timeout: duration.default('2s'),
  disable_connections: z.boolean().default(false),
  default_validator: z
    .strictObject({
      enable: z.boolean().default(false),
      reject_oci_hook_adjustment: z.boolean().default(false),
      reject_runtime_default_seccomp_adjustment: z.boolean().default(false),
      reject_unconfined_seccomp_adjustment: z.boolean().default(false),
      reject_custom_seccomp_adjustment: z.boolean().default(false),
      reject_namespace_adjustment: z.boolean().default(false),
      reject_sysctl_adjustment: z.boolean().default(false),
      required_plugins: z.array(z.string().min(1)).default([]),
      tolerate_missing_plugins_annotation: z.string().default(''),
    })
    .prefault({}),
});
