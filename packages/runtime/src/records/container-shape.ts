import * as z from 'zod';
import type { ContainerConfig, ContainerRecord, ContainerSecurity } from './container-record.ts';
import { containerResources, idMappings, selinuxOptions, stringMap, strings } from './shapes.ts';

const mount = z.looseObject({
  containerPath: z.string(),
  hostPath: z.string(),
  image: z.string(),
  imageSubPath: z.string(),
  readonly: z.boolean(),
  recursiveReadOnly: z.boolean(),
  propagation: z.enum(['private', 'host-to-container', 'bidirectional']),
  selinuxRelabel: z.boolean(),
  mappings: idMappings.optional(),
});

const profile = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('runtime-default') }),
  z.looseObject({ type: z.literal('unconfined') }),
  z.looseObject({ type: z.literal('localhost'), ref: z.string() }),
]);

const security = z.looseObject({
  privileged: z.boolean(),
  addCapabilities: strings,
  dropCapabilities: strings,
  addAmbientCapabilities: strings,
  pid: z.discriminatedUnion('mode', [
    z.looseObject({ mode: z.literal('pod') }),
    z.looseObject({ mode: z.literal('container') }),
    z.looseObject({ mode: z.literal('node') }),
    z.looseObject({ mode: z.literal('target'), containerId: z.string() }),
  ]),
  userNamespace: idMappings.optional(),
  runAsUser: z.number().optional(),
  runAsUsername: z.string(),
  runAsGroup: z.number().optional(),
  supplementalGroups: z.array(z.number()),
  supplementalGroupsPolicy: z.enum(['merge', 'strict']),
  readonlyRootfs: z.boolean(),
  noNewPrivileges: z.boolean(),
  maskedPaths: strings,
  readonlyPaths: strings,
  seccomp: profile,
  apparmor: profile.optional(),
  selinux: selinuxOptions.optional(),
}) satisfies z.ZodType<ContainerSecurity>;

const config = z.looseObject({
  name: z.string(),
  attempt: z.number(),
  image: z.looseObject({
    reference: z.string(),
    annotations: stringMap,
    userSpecified: z.string(),
    runtimeHandler: z.string(),
  }),
  command: strings,
  args: strings,
  workingDir: z.string(),
  envs: z.array(z.looseObject({ name: z.string(), value: z.string() })),
  mounts: z.array(mount),
  devices: z.array(z.looseObject({ containerPath: z.string(), hostPath: z.string(), permissions: z.string() })),
  cdiDevices: strings.optional(),
  labels: stringMap,
  annotations: stringMap,
  logPath: z.string(),
  stdin: z.boolean(),
  stdinOnce: z.boolean(),
  tty: z.boolean(),
  stopSignal: z.string(),
  resources: containerResources,
  security,
}) satisfies z.ZodType<ContainerConfig>;

const imageConfig = z.looseObject({
  User: z.string().optional(),
  Env: strings.optional(),
  Entrypoint: strings.optional(),
  Cmd: strings.optional(),
  Volumes: z.record(z.string(), z.object()).optional(),
  WorkingDir: z.string().optional(),
  Labels: stringMap.optional(),
  StopSignal: z.string().optional(),
});

const end = {
  startedAtMs: z.number(),
  finishedAtMs: z.number(),
  exitCode: z.number(),
  reason: z.string(),
  message: z.string(),
};

/** Schema of container records. For the meaning of the fields see `ContainerRecord`. */
export const containerShape = z.looseObject({
  id: z.string(),
  name: z.string(),
  sandboxId: z.string(),
  config,
  image: z.looseObject({ id: z.string(), repoDigest: z.string(), config: imageConfig }),
  user: z.looseObject({ uid: z.number(), gid: z.number(), additionalGids: z.array(z.number()) }),
  logPath: z.string(),
  stopSignal: z.string(),
  cgroupsPath: z.string().optional(),
  state: z.discriminatedUnion('phase', [
    z.looseObject({ phase: z.literal('creating') }),
    z.looseObject({ phase: z.literal('created') }),
    z.looseObject({ phase: z.literal('starting') }),
    z.looseObject({ phase: z.literal('running'), pid: z.number(), startedAtMs: z.number() }),
    z.looseObject({ phase: z.literal('exited'), ...end }),
    z.looseObject({ phase: z.literal('removing'), end: z.looseObject(end).optional() }),
  ]),
  createdAtMs: z.number(),
}) satisfies z.ZodType<ContainerRecord>;
