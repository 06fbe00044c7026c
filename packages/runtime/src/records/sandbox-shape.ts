import * as z from 'zod';
import type { SandboxConfig, SandboxRecord } from './sandbox-record.ts';
import { containerResources, idMappings, selinuxOptions, stringMap, strings } from './shapes.ts';

const portMapping = z.looseObject({
  protocol: z.enum(['tcp', 'udp', 'sctp']),
  containerPort: z.number(),
  hostPort: z.number(),
  hostIp: z.string(),
});

const sandboxResources = z.looseObject({ overhead: containerResources, containers: containerResources });

const config = z.looseObject({
  podName: z.string(),
  podUid: z.string(),
  podNamespace: z.string(),
  attempt: z.number(),
  hostname: z.string(),
  logDirectory: z.string(),
  dns: z.looseObject({ servers: strings, searches: strings, options: strings }).optional(),
  portMappings: z.array(portMapping),
  labels: stringMap,
  annotations: stringMap,
  cgroupParent: z.string(),
  network: z.enum(['pod', 'node']),
  ipc: z.enum(['pod', 'node']),
  pid: z.enum(['pod', 'container', 'node']),
  userNamespace: idMappings.optional(),
  sysctls: stringMap,
  selinux: selinuxOptions.optional(),
  privileged: z.boolean(),
  resources: sandboxResources.optional(),
  runtimeHandler: z.string(),
}) satisfies z.ZodType<SandboxConfig>;

/** Schema of sandbox records. For the meaning of the fields see `SandboxRecord`. */
export const sandboxShape = z.looseObject({
  id: z.string(),
  name: z.string(),
  config,
  controller: z.string().optional(),
  state: z.looseObject({ phase: z.enum(['creating', 'ready', 'broken', 'stopping', 'stopped', 'removing']) }),
  createdAtMs: z.number(),
  ips: strings,
  resources: sandboxResources.optional(),
}) satisfies z.ZodType<SandboxRecord>;
